/** Builds the model of a payment's pages, for holders of its link. */

import type { WalletOffer } from '../../commands/payerTransactions.ts';
import type { ChainId } from '../../domain/chains.ts';
import { returnUrlOf } from '../../domain/merchant/profile.ts';
import { isDue } from '../../domain/payment/choose.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { NetworkOf } from '../../src/api/networks.ts';
import { linkPath, logoPath, type PayLinkDeps, payPath } from '../../src/api/resource.ts';
import type { LinkRoutePorts } from '../../src/api/routes/links.ts';
import type { Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import type { Site } from '../parts/frame.ts';
import { languageOf } from '../parts/language.ts';
import { readWanted, wantedAmount } from './choice.ts';
import { sayIn } from './messages/index.ts';
import { endedUnpaid, type PayModel, type Shop } from './model.ts';

/** Reads for payers, who have a payment's link. */
export interface PayerReads {
  /** The payment as its payer sees it; null for an unknown id. */
  readonly payerFacts: (paymentId: string) => Promise<PayerFacts | null>;
  /** Origins that may frame the app's payment pages. */
  readonly embeddingSites: (appId: string) => Promise<readonly string[]>;
}

/** Needs of the pages of one payment. */
export interface PayModelDeps extends PayerReads, Pick<PayLinkDeps, 'paymentSecrets' | 'findProfile' | 'publicUrl'> {
  readonly links: LinkRoutePorts;
  readonly site: Site;
  /** URL that opens a wallet to pay an amount in whole tokens; null for a payment without one. */
  readonly walletLink: (payment: PaymentView, amount: string | null) => string | null;
  readonly networkOf: NetworkOf;
  /** Facts that a wallet in the payer's browser needs; null for a payment that it cannot pay. */
  readonly walletOffer: (payment: PaymentView, amount: string | null) => WalletOffer | null;
  /** Chains with a relay account, by their network in CAIP-2. */
  readonly networks: ReadonlyMap<string, ChainId>;
}

// Receiver of a payment or a link, from its app's profile.

/** @param payment that its payer returns from; null if there is none yet */
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

/** Choices in the address of a page. */
export interface PageQuery {
  readonly lang?: string | undefined;
  /** The payer's sum if any amount is accepted. */
  readonly amount?: string | undefined;
}

/** An unknown secret and a malformed one get the same answer. */
export async function payModelOf(
  deps: PayModelDeps,
  { params: { secret }, languages }: Visit<'anyone', { readonly secret: string }>,
  { lang, amount }: PageQuery,
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
  const wanted = readWanted(facts, amount);
  const left = amountDue(facts, wantedAmount(wanted));
  const walletLink = facts.situation.open ? deps.walletLink(facts.payment, left) : null;
  const walletOffer = isDue(facts.situation) ? deps.walletOffer(facts.payment, left) : null;
  const url = `${deps.publicUrl()}${around.path}`;
  const { networkOf } = deps;
  const page = { ...around, facts, shop, sites, walletLink, walletOffer, url, networkOf, wanted, madeWith };
  return { ...page, gasFree: isGasFree(deps, facts), refused: false };
}

/** Anyone can write a link's id into a payment's metadata: it must be a link of the payment's own app. */
async function linkOf(
  { links }: Pick<PayModelDeps, 'links'>,
  { payment, situation }: PayerFacts,
): Promise<PayModel['madeWith']> {
  const linkId = payment.metadata?.['linkId'];
  if (!endedUnpaid(situation) || typeof linkId !== 'string') return null;
  const link = await links.find(linkId);
  return link?.appId === payment.appId ? { path: linkPath(linkId), closed: link.closedAt !== null } : null;
}

/** An authorization pays one exact amount of USDC at once. The service learns at the press whether the payer's account can pay it. */
function isGasFree({ networks }: Pick<PayModelDeps, 'networks'>, { payment, situation }: PayerFacts): boolean {
  const { sourceAmount: amount, sourceChainId, sourceTokenSymbol, depositContract } = payment;
  const isExact = amount !== null && (situation.missing?.amount ?? amount) === amount && depositContract === null;
  return isExact && sourceTokenSymbol === 'USDC' && [...networks.values()].includes(sourceChainId);
}

/** Amount due in whole tokens; if any amount is accepted, the payer's sum, or null until they have entered it. */
const amountDue = ({ payment, situation }: PayerFacts, wanted: string | null): string | null =>
  payment.sourceAmount === null ? wanted : (situation.missing?.amount ?? payment.sourceAmount);
