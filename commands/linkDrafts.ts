/**
 * Payments that programs make with a reusable link. A draft has a deposit and a price, and nothing is stored: the quote that a program
 * sends back with its authorization names the draft, and the payment is created then.
 */
import { type Chain, chains } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { Link } from '../domain/link.ts';
import type { PayFrom } from '../domain/merchant/events.ts';
import type { Payment } from '../domain/payment/state.ts';
import { epochMs } from '../domain/time.ts';
import type { CreatedPayment, Creator, DraftedPayment, NewPayment } from './createPayment.ts';
import { type LinkVisit, linkPayment, linkSources } from './links.ts';
import type { AppSettings, OfferedFee } from './paymentRequest.ts';
import type { Clock, Ids } from './ports.ts';
import type { RelayDraft } from './relayPorts.ts';

export interface LinkDraftDeps {
  readonly draftPayment: (
    request: NewPayment,
    app: AppSettings,
    caller: Pick<Creator, 'keyless'>,
  ) => Promise<DraftedPayment | Refusal>;
  readonly createPayment: (request: NewPayment, app: AppSettings, caller: Creator) => Promise<CreatedPayment | Refusal>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
  /** Seals of this installation over texts. */
  readonly seals: {
    sealOf(facts: readonly string[]): string;
    isSealOf(seal: string, facts: readonly string[]): boolean;
  };
  readonly offers: (chain: Chain) => boolean;
  /** True for a chain on which authorizations are accepted. */
  readonly takesAuthorizations: (chain: Chain) => boolean;
}

/** Request of a program. */
export interface LinkAsked {
  /** Order id that the program chose: the same one is the same payment. Default: each quote is a payment of its own. */
  readonly order: string | null;
  /** In dollars; read only if the payer chooses it. */
  readonly amount: string | undefined;
  /** Quote that an earlier answer contained. */
  readonly quote: string | null;
}

export interface LinkDraft extends RelayDraft {
  /** True if the payment was created before. */
  readonly exists: boolean;
  readonly quote: string;
}

export interface LinkDrafts {
  /** Id of the payment that a quote of the link offered; null for any other text. Calls no node. */
  paymentIdOf(linkId: string, quote: string): string | null;
  draft(app: AppSettings, link: Link, asked: LinkAsked): Promise<LinkDraft | Refusal>;
}

/** A new payment gets the price of a quote for this time. */
const fresh_s = 600;
/** Money that an authorization moved is found by its quote for this time. */
const life_s = 86_400;

/** An order id of a program: the shape of payment identifiers in x402. */
export const linkOrderPattern = /^[A-Za-z0-9_-]{16,128}$/;

interface Quote {
  readonly nonce: string;
  readonly issued_s: number;
  readonly fees: readonly OfferedFee[];
  readonly paymentId: string;
}

export function createLinkDrafts(deps: LinkDraftDeps): LinkDrafts {
  const { clock, ids, seals, offers } = deps;

  const quoteIn = (linkId: string, text: string): Quote | null => {
    const [words = '', seal = ''] = text.split('|');
    return seals.isSealOf(seal, factsOf(linkId, words)) ? parseQuote(words) : null;
  };

  return {
    paymentIdOf: (linkId, text) => quoteIn(linkId, text)?.paymentId ?? null,

    async draft(app, link, { order, amount, quote: text }) {
      const { linkId } = link;
      const now_s = Math.floor(epochMs(clock.now()) / 1_000);
      const quote = text === null ? null : quoteIn(linkId, text);
      if (text !== null && (!quote || (order !== null && order !== quote.nonce))) return unknownQuote;
      if (quote && now_s - quote.issued_s > life_s) return oldQuote;
      const nonce = quote?.nonce ?? order ?? ids.eventId();
      const sources = sourcesFor(deps, app, link);
      if (isRefusal(sources)) return sources;
      const visit = { nonce, amount, ...(order !== null && { orderId: order }), ...sources };
      const asked = linkPayment(app, link, visit, offers);
      if (isRefusal(asked)) return asked;
      const request = quote ? { ...asked, offeredFees: quote.fees } : asked;
      const drafted = await deps.draftPayment(request, app, { keyless: true });
      if (isRefusal(drafted)) return drafted;
      const { payment, exists } = drafted;
      const { paymentId } = payment.terms;
      // The merchant has changed the settlement wallet, or the sources.
      if (quote && quote.paymentId !== paymentId) return changedTerms;
      const issued = quote ?? { nonce, issued_s: now_s, fees: feesOf(payment), paymentId };
      const words = wordsOf(issued);
      return {
        payment,
        exists,
        // Money that moved before the merchant closed the link still gets its payment.
        isFresh: link.closedAt === null && now_s - issued.issued_s <= fresh_s,
        quote: text ?? `${words}|${seals.sealOf(factsOf(linkId, words))}`,
        async create(by) {
          const created = await deps.createPayment(request, app, { keyless: true, ...by });
          return isRefusal(created) ? created : created.payment;
        },
      };
    },
  };
}

const refusedQuote = (why: string) => refuse('invalidRequest', `${why}: request the terms again`, '/quote');
const unknownQuote = refusedQuote('the quote is not one of this link and order');
const oldQuote = refusedQuote('the quote is older than a day');
const changedTerms = refusedQuote('the link has other terms than the quote by now');

/**
 * Sources of a draft. It begins with one that accepts authorizations: their deposits are derived, and every anonymous request makes a draft,
 * so a deposit from a stock would be lost each time. If the payer chooses: USDC of each chain that accepts authorizations.
 */
function sourcesFor(
  { offers, takesAuthorizations }: LinkDraftDeps,
  app: AppSettings,
  link: Link,
): Pick<LinkVisit, 'source' | 'payFrom' | 'fits'> | Refusal {
  const able = chains.filter((chain) => offers(chain) && takesAuthorizations(chain)).map(({ id }) => id);
  const fits = ({ chainId, tokenSymbol }: PayFrom[number]) => tokenSymbol === 'USDC' && able.includes(chainId);
  const own = linkSources(link, app, offers);
  if (own.length > 0) return own.some(fits) ? { fits } : noAuthorization;
  const [source, ...payFrom] = able.map((chainId) => ({ chainId, tokenSymbol: 'USDC' as const }));
  return source ? { source: { ...source, chainId: String(source.chainId) }, payFrom } : noAuthorization;
}

const noAuthorization = refuse(
  'paymentNotUpdatable',
  'payments of this link take no authorization: open its page, and pay with an ordinary transfer',
);

/** Policies of the payment's own source and of its alternatives, in their order. */
const feesOf = ({ terms: { fee, alternatives = [] } }: Payment): readonly OfferedFee[] =>
  [fee, ...alternatives.map((each) => each.fee)].map(({ fixed, basisPoints }) => ({
    fixed: BigInt(fixed),
    basisPoints,
  }));

const factsOf = (linkId: string, words: string): readonly string[] => ['x402 quote', linkId, words];

const wordsOf = ({ nonce, issued_s, fees, paymentId }: Quote): string =>
  [nonce, issued_s, fees.map(({ fixed, basisPoints }) => `${fixed}-${basisPoints}`).join('_'), paymentId].join('.');

/** Reads what this installation wrote and sealed. */
function parseQuote(words: string): Quote {
  const [nonce = '', issued, fees = '', paymentId = ''] = words.split('.');
  const policies = fees.split('_').map((each) => {
    const [fixed = '0', basisPoints] = each.split('-');
    return { fixed: BigInt(fixed), basisPoints: Number(basisPoints) };
  });
  return { nonce, issued_s: Number(issued), fees: policies, paymentId };
}
