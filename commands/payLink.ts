/** A payment that a payer makes for himself with a reusable link. */
import { createHash } from 'node:crypto';
import { type Chain, findChain } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { amountWith, type Link } from '../domain/link.ts';
import type { PayFrom } from '../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import type { CreatedPayment, Creator, NewPayment } from './createPayment.ts';
import type { By } from './handle.ts';
import { readMicroUsd } from './paymentAmounts.ts';
import type { AppSettings } from './paymentRequest.ts';

/** What a payer fills in. */
export interface LinkVisit {
  /** Of the form that was shown, random: the same form filled in the same way is the same payment, however often it is sent. */
  readonly nonce: string;
  /** In dollars; looked at where the payer chooses it. */
  readonly amount?: string | undefined;
  /** Looked at where nobody has said what it may be. */
  readonly source?: { readonly chainId: string; readonly tokenSymbol: string } | undefined;
}

type Offers = (chain: Chain) => boolean;

/**
 * What a payment of the link may be paid from: the link's own source; else what the app lets its payers choose, which they do on the
 * payment's page. Empty where neither says: the payer then names one source of all that are served here.
 */
export function sourcesOf(
  { source }: Pick<Link, 'source'>,
  { payFrom = [] }: Pick<AppSettings, 'payFrom'>,
  offers: Offers,
): PayFrom {
  if (source) return [source];
  return payFrom.filter(({ chainId }) => {
    const chain = findChain(chainId);
    return chain !== undefined && offers(chain);
  });
}

export type PayLink = (app: AppSettings, link: Link, visit: LinkVisit, by: By) => Promise<CreatedPayment | Refusal>;

type Create = (request: NewPayment, app: AppSettings, caller: Creator) => Promise<CreatedPayment | Refusal>;

/**
 * The payer is a stranger: his payment is created without a key, to the app's settlement wallet in force. Its order is named after the
 * form that was sent, so it is made once; a crash at any place leaves the payment or nothing, and the same form again finds it or makes it.
 */
export const createPayLink =
  (createPayment: Create, offers: Offers): PayLink =>
  async (app, link, visit, by) => {
    if (link.closedAt !== null) return refuse('conflict', 'the link is closed: ask the merchant for another');
    const chosen = visit.amount === undefined ? null : readMicroUsd(visit.amount, '/amount');
    if (isRefusal(chosen)) return chosen;
    const asked = amountWith(link, chosen);
    if (isRefusal(asked)) return asked;
    const [source = visit.source] = sourcesOf(link, app, offers);
    if (!source) return refuse('invalidRequest', 'choose where to pay from', '/source');
    const amount = formatAmount(asked, microUsdDecimals);
    const { linkId, type, title, description } = link;
    const chainId = String(source.chainId);
    const named = orderIdOf([linkId, visit.nonce, amount, chainId, source.tokenSymbol]);
    const request: NewPayment = {
      appId: app.appId,
      orderId: named,
      type,
      intent: null,
      display: { title, description, currency: 'USD' },
      metadata: { linkId },
      source: { chainId, tokenSymbol: source.tokenSymbol, ...(type === 'exactIn' && { amount }) },
      destination: type === 'exactOut' ? { amount } : {},
      // What the app's settings say is for links that leave the choice to the payer.
      payFrom: link.source ? [] : null,
    };
    return createPayment(request, app, { keyless: true, ...by });
  };

/** Short enough for people to tell each other; 80 bits, so that nobody meets or guesses the order of another form. */
const orderIdOf = (parts: readonly string[]): string =>
  `link-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 20)}`;
