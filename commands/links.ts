/** Reusable payment links: created and closed by an app's owner. */

import { createHash } from 'node:crypto';
import { type Chain, findChain } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import {
  amountWith,
  closeLink,
  createLink,
  isLinkId,
  type Link,
  type LinkTerms,
  type LinkType,
  link,
  linkLimits,
  noSuchLink,
} from '../domain/link.ts';
import type { PayFrom } from '../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import type { CreatedPayment, Creator, NewPayment } from './createPayment.ts';
import type { By, Handle } from './handle.ts';
import { createRoleCheck } from './handle.ts';
import type { Changed } from './manageMerchant.ts';
import { linkIdOf } from './paymentId.ts';
import { type AppSettings, type ReadDeps, readMicroUsd, readSide } from './paymentRequest.ts';
import type { Clock, Ids } from './ports.ts';

export interface LinkDeps extends ReadDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
  /** Number of open links of an app, counted up to `max`. */
  readonly countOpen: (appId: string, max: number) => Promise<number>;
}

/** Request as sent; amounts are decimal texts in dollars. */
export interface LinkRequest {
  readonly type: LinkType;
  /** Undefined if the payer chooses, from `minAmount` to `maxAmount`. */
  readonly amount?: string | undefined;
  readonly minAmount?: string | undefined;
  readonly maxAmount?: string | undefined;
  readonly title: string | null;
  readonly description: string | null;
  /** Null if the payer chooses. */
  readonly source: { readonly chainId: string | number; readonly tokenSymbol: string } | null;
  /** Idempotency key: a repeated request returns the same link. */
  readonly idempotencyKey?: string | undefined;
}

export interface ChangedLink extends Changed {
  readonly link: Link;
}

/** A person (cause `developer:…`) is refused with `forbidden` unless their role in the app's team allows the change. */
export interface ManageLinks {
  create(app: AppSettings, request: LinkRequest, by: By): Promise<ChangedLink | Refusal>;
  close(appId: string, linkId: string, by: By): Promise<ChangedLink | Refusal>;
}

/** Maximum open links of an app. */
export const openLinksMax = 200;

/** Each link is one event of one stream: a crash leaves all of it or nothing, and a repeated request finds it. */
export function createManageLinks(deps: LinkDeps): ManageLinks {
  const { handle, clock, ids } = deps;
  const refused = createRoleCheck(handle);
  return {
    async create(app, request, by) {
      const { appId, idSalt } = app;
      const asked = (await refused(appId, by, 'createLink')) ?? readLink(deps, app, request);
      if (isRefusal(asked)) return asked;
      const full = (await deps.countOpen(appId, openLinksMax)) >= openLinksMax ? tooMany : undefined;
      const linkId = linkIdOf(idSalt, request.idempotencyKey ?? ids.eventId());
      const terms: LinkTerms = { linkId, appId, ...asked, createdAt: clock.now() };
      const decide = (state: Link | null) => (state === null && full ? full : createLink(state, terms));
      return changed(await handle(link, linkId, decide, { ...by, appId, expectNew: true }));
    },

    async close(appId, linkId, by) {
      const unfit = (await refused(appId, by, 'closeLink')) ?? (isLinkId(linkId) ? undefined : noSuchLink);
      if (unfit) return unfit;
      return changed(await handle(link, linkId, (state) => closeLink(state, appId, clock.now()), { ...by, appId }));
    },
  };
}

const tooMany = refuse('conflict', `the app has ${openLinksMax} open links: close one that is not used any more`);

function changed(handled: Awaited<ReturnType<Handle>> | Refusal): ChangedLink | Refusal {
  if (isRefusal(handled)) return handled;
  return { link: handled.state as Link, position: handled.position };
}

type Asked = Omit<LinkTerms, 'linkId' | 'appId' | 'createdAt'>;

function readLink(deps: ReadDeps, { appId, settlement }: AppSettings, request: LinkRequest): Asked | Refusal {
  if (!appId.startsWith('merchant_')) {
    return refuse('forbidden', 'a link pays the settlement wallet of a merchant_ app: create each payment instead');
  }
  if (!settlement) return refuse('settlementMissing', 'the app has no settlement wallet: set one before making links');
  const side = request.source && readSide(deps, request.source, '/source');
  if (isRefusal(side)) return side;
  const amounts = readAmounts(request);
  if (isRefusal(amounts)) return amounts;
  const { type, title, description } = request;
  const source = side && { chainId: side.chain.id, tokenSymbol: side.token.symbol };
  return { type, title, description, source, ...amounts };
}

function readAmounts({
  amount,
  minAmount,
  maxAmount,
}: LinkRequest): Pick<Asked, 'amount_microUsd' | 'limits_microUsd'> | Refusal {
  if (amount === undefined) {
    const min = minAmount === undefined ? linkLimits.min : readMicroUsd(minAmount, '/minAmount');
    if (isRefusal(min)) return min;
    const max = maxAmount === undefined ? linkLimits.max : readMicroUsd(maxAmount, '/maxAmount');
    if (isRefusal(max)) return max;
    return { amount_microUsd: null, limits_microUsd: { min: min.toString(), max: max.toString() } };
  }
  const [needless] = Object.entries({ minAmount, maxAmount }).find(([, stated]) => stated !== undefined) ?? [];
  if (needless) return refuse('invalidRequest', 'is for links whose amount the payer chooses', `/${needless}`);
  const fixed = readMicroUsd(amount, '/amount');
  return isRefusal(fixed) ? fixed : { amount_microUsd: fixed.toString(), limits_microUsd: null };
}

// A payment that a payer creates with a reusable link.

/** Input of a payer. */
export interface LinkVisit {
  /** Order id of the payment. Default: derived from the nonce. */
  readonly orderId?: string | undefined;
  /** Random value of the displayed form: repeated submits of the same form are the same payment. */
  readonly nonce: string;
  /** In dollars; read only if the payer chooses it. */
  readonly amount?: string | undefined;
  /** Read only if neither link nor app names a source. */
  readonly source?: { readonly chainId: string; readonly tokenSymbol: string } | undefined;
  /** Other sources, read only with `source`. Default: the app's settings. */
  readonly payFrom?: PayFrom | undefined;
  /** True for a source that the payment may begin with; the payer can still choose the others. Default: every source. */
  readonly fits?: ((source: PayFrom[number]) => boolean) | undefined;
}

type Offers = (chain: Chain) => boolean;

/**
 * Sources of a link's payment: the link's own source, else the app's choices for its payers, made on the payment's page. Empty if neither
 * is set: the payer then names one of all served sources.
 */
export function linkSources(
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
 * The payer is a stranger, so the payment is created without a key, to the app's settlement wallet in force. Its order id is derived from
 * the submitted form, so it is created once; after a crash the same form finds it or creates it.
 */
export const createPayLink =
  (createPayment: Create, offers: Offers): PayLink =>
  async (app, link, visit, by) => {
    if (link.closedAt !== null) return linkClosed;
    const request = linkPayment(app, link, visit, offers);
    return isRefusal(request) ? request : createPayment(request, app, { keyless: true, ...by });
  };

export const linkClosed = refuse('conflict', 'the link is closed: ask the merchant for another');

/** The request of a payment with a link. */
export function linkPayment(app: AppSettings, link: Link, visit: LinkVisit, offers: Offers): NewPayment | Refusal {
  const chosen = visit.amount === undefined ? null : readMicroUsd(visit.amount, '/amount');
  if (isRefusal(chosen)) return chosen;
  const asked = amountWith(link, chosen);
  if (isRefusal(asked)) return asked;
  const own = linkSources(link, app, offers);
  const [source = visit.source] = visit.fits ? own.filter(visit.fits) : own;
  if (!source) return refuse('invalidRequest', 'choose where to pay from', '/source');
  const amount = formatAmount(asked, microUsdDecimals);
  const { linkId, type, title, description } = link;
  const chainId = String(source.chainId);
  const named = orderIdOf([linkId, visit.nonce, amount, chainId, source.tokenSymbol]);
  return {
    appId: app.appId,
    orderId: visit.orderId ?? named,
    type,
    intent: null,
    display: { title, description, currency: 'USD' },
    metadata: { linkId },
    source: { chainId, tokenSymbol: source.tokenSymbol, ...(type === 'exactIn' && { amount }) },
    destination: type === 'exactOut' ? { amount } : {},
    // The app's settings apply to links that leave the choice to the payer.
    payFrom: link.source ? [] : own.length > 0 ? null : (visit.payFrom ?? null),
  };
}

/** Short enough to read out; 80 bits, so nobody can guess the order of another form. */
const orderIdOf = (parts: readonly string[]): string =>
  `link-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 20)}`;
