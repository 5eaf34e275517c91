/** What the pages of a payment are drawn from, for whoever has its link. */

import type { WalletOffer } from '../../commands/payerTransactions.ts';
import { returnUrlOf } from '../../domain/merchant/profile.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { linkPath, logoPath, type PayLinkDeps, payPath } from '../../src/api/resource.ts';
import type { LinkDeps } from '../../src/api/routes/links.ts';
import type { Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import type { Site } from '../parts/frame.ts';
import { languageOf } from './language.ts';
import { sayIn } from './messages/index.ts';
import { endedUnpaid, isDue, type PayModel, type Shop } from './model.ts';

/** Reads for payers, who have a payment's link. */
export interface PayerReads {
  /** The payment as its payer sees it; null for an unknown id. */
  readonly payerFacts: (paymentId: string) => Promise<PayerFacts | null>;
  /** Origins that may show the app's payment pages in a frame. */
  readonly embeddingSites: (appId: string) => Promise<readonly string[]>;
}

/** Needs of the pages that are drawn from one payment. */
export interface PayModelDeps extends PayerReads, Pick<PayLinkDeps, 'paymentSecrets' | 'findProfile' | 'publicUrl'> {
  readonly links: LinkDeps;
  readonly site: Site;
  /** URL that opens a wallet to pay an amount in whole tokens; null for a payment without one. */
  readonly walletLink: (payment: PaymentView, amount: string | null) => string | null;
  /** What a wallet in the payer's browser needs to pay; null for a payment that it cannot pay. */
  readonly walletOffer: (payment: PaymentView, amount: string | null) => WalletOffer | null;
}

// Whom a payment or a link is paid to, as its app's profile says.

/** @param payment that its payer comes back from; null where there is none yet */
export async function shopOf(
  { findProfile }: Pick<PayLinkDeps, 'findProfile'>,
  appId: string,
  payment: Pick<PaymentView, 'paymentId' | 'orderId' | 'status'> | null,
): Promise<Shop> {
  const { name, logo, colour, supportContact, returnUrlTemplate } = await findProfile(appId);
  const returnTo = payment && { ...payment, orderId: payment.orderId ?? '' };
  return {
    name,
    colour,
    supportContact,
    logoUrl: logo === null ? null : logoPath(logo),
    returnUrl: returnUrlTemplate && returnTo && returnUrlOf(returnUrlTemplate, returnTo),
  };
}

/** A secret of no payment and one that is none are answered alike. */
export async function payModelOf(
  deps: PayModelDeps,
  { params: { secret }, languages }: Visit<'anyone', { readonly secret: string }>,
  lang: string | undefined,
): Promise<PayModel> {
  const paymentId = deps.paymentSecrets.paymentIdOf(secret);
  const facts = paymentId === null ? null : await deps.payerFacts(paymentId);
  if (!facts) throw noSuchPage();
  const { appId } = facts.payment;
  const [shop, sites, madeWith] = await Promise.all([
    shopOf(deps, appId, facts.payment),
    deps.embeddingSites(appId),
    linkOf(deps, facts),
  ]);
  const say = sayIn(languageOf(lang, languages));
  const around = { say, mode: deps.site.mode, path: payPath(secret) };
  return {
    ...around,
    facts,
    shop,
    sites,
    walletLink: walletLinkOf(deps, facts),
    walletOffer: walletOfferOf(deps, facts),
    url: `${deps.publicUrl()}${around.path}`,
    refused: false,
    madeWith,
  };
}

/** Anybody can write a link's id into a payment's metadata: it is a link of the payment's own app, or none. */
async function linkOf(
  { links }: Pick<PayModelDeps, 'links'>,
  { payment, situation }: PayerFacts,
): Promise<PayModel['madeWith']> {
  const linkId = payment.metadata?.['linkId'];
  if (!endedUnpaid(situation) || typeof linkId !== 'string') return null;
  const link = await links.find(linkId);
  return link?.appId === payment.appId ? { path: linkPath(linkId), closed: link.closedAt !== null } : null;
}

/** For what is still to be sent. */
function walletLinkOf({ walletLink }: Pick<PayModelDeps, 'walletLink'>, facts: PayerFacts): string | null {
  return facts.situation.open ? walletLink(facts.payment, amountDue(facts)) : null;
}

function walletOfferOf({ walletOffer }: Pick<PayModelDeps, 'walletOffer'>, facts: PayerFacts): WalletOffer | null {
  return isDue(facts.situation) ? walletOffer(facts.payment, amountDue(facts)) : null;
}

/** In whole tokens; null where the payer chooses. */
const amountDue = ({ payment, situation }: PayerFacts): string | null =>
  payment.sourceAmount === null ? null : (situation.missing?.amount ?? payment.sourceAmount);
