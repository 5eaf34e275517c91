/** The payment that a program's request means: that of a payment's link, or the payment that a reusable link makes. */
import type { Request, Response } from 'express';
import { type LinkDrafts, linkOrderPattern } from '../../../commands/linkDrafts.ts';
import { linkClosed } from '../../../commands/links.ts';
import type { RelayDesk, RelayDraft, Relays } from '../../../commands/relayPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { epochMs } from '../../../domain/time.ts';
import type { AccessDeps } from '../auth.ts';
import { ApiError, errorOfRefusal, unavailable } from '../errors.ts';
import { admitApp, type Clients, type Rates } from '../rateLimits.ts';
import { linkPath, type PayLinkDeps, payPath } from '../resource.ts';
import type { LinkRoutePorts } from '../routes/links.ts';
import type { Challenges } from './mpp.ts';
import type { PreparingDeps } from './preparing.ts';
import type { SettlingDeps } from './settling.ts';
import type { Bill } from './wire.ts';

export const payX402Path = '/pay/:secret/x402';
export const linkX402Path = '/link/:linkId/x402';

export interface RelayDoorsDeps
  extends SettlingDeps,
    Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'>,
    Pick<AccessDeps, 'findApp'>,
    Pick<PreparingDeps, 'relayOn'> {
  readonly relays: Relays;
  readonly clients: Pick<Clients, 'of'>;
  readonly rates: Rates;
  readonly links: Pick<LinkRoutePorts, 'find'>;
  readonly linkDrafts: LinkDrafts;
  readonly challenges: Challenges;
  /** Chains with a relay account, by their network in CAIP-2. */
  readonly networks: ReadonlyMap<string, ChainId>;
  /** How long an answer waits for the payer's money. Default: 45 s. */
  readonly settleWait_ms?: number;
}

export interface Target {
  readonly paymentId: string;
  readonly desk: RelayDesk;
  readonly bill: Bill;
  /** Undefined for a payment that exists. */
  readonly draft?: RelayDraft | undefined;
}

export interface AskedFor {
  /** Quote that was sent back with an authorization; null if none was, undefined without an authorization. */
  readonly quote: string | null | undefined;
  /** Name under which the payer's payments are counted. */
  readonly address: string;
  readonly away: AbortSignal;
}

/** @throws ApiError */
export type FindTarget = (request: Request, asked: AskedFor) => Promise<Target>;

const noPayment = () => new ApiError('notFound', 'there is no such payment: check the address');

export const targetOfPayment =
  (deps: RelayDoorsDeps): FindTarget =>
  async (request, { away }) => {
    const { secret, paymentId } = paymentIn(deps, request);
    const desk = await deps.relays.desk(paymentId, away);
    if (!desk) throw noPayment();
    return { paymentId, desk, bill: billOf(deps, desk, { path: payPath(secret) }) };
  };

export const targetOfLink =
  (deps: RelayDoorsDeps): FindTarget =>
  async (request, { quote, address, away }) => {
    const link = await deps.links.find(String(request.params['linkId']));
    if (!link) throw new ApiError('notFound', 'there is no such link: check the address');
    const { order, amount, search } = inputOf(request);
    if (quote === null && order === null)
      throw new ApiError('invalidRequest', 'the payment header has no accepted.extra.quote: send what you accepted', {
        errors: [{ pointer: '/quote', message: 'must be the one of the accepted terms' }],
      });
    const path = linkPath(link.linkId);
    const about = { path, search, isForOldClients: order !== null };
    const stored = typeof quote === 'string' ? deps.linkDrafts.paymentIdOf(link.linkId, quote) : null;
    const known = stored === null ? null : await deps.relays.desk(stored, away);
    if (known) return targetOf(deps, known, { ...about, quote: quote ?? null });
    const app = await deps.findApp(link.appId);
    if (!app) throw unavailable('the settings of the app are not known here yet: try again', 5);
    const draft = await deps.linkDrafts.draft(app, link, { order, amount, quote: quote ?? null });
    if (isRefusal(draft)) throw errorOfRefusal(draft);
    const { paymentId } = draft.payment.terms;
    const existing = draft.exists ? await deps.relays.desk(paymentId, away) : null;
    if (existing) return targetOf(deps, existing, { ...about, quote: draft.quote });
    // A signature may still have moved money: only requests for terms are refused here.
    if (link.closedAt !== null && quote === undefined) throw errorOfRefusal(linkClosed);
    const desk =
      link.closedAt === null
        ? await deps.relays.draftDesk(draft.payment, away)
        : { payment: draft.payment, offers: [], last: null };
    const create: RelayDraft['create'] = async (by) => {
      await admitApp(deps.rates, 'linkOpen', link.appId, address);
      return draft.create(by);
    };
    const target = targetOf(deps, desk, { ...about, quote: draft.quote });
    return { ...target, draft: { payment: draft.payment, isFresh: draft.isFresh, create } };
  };

/** `order` is the program's own id of its purchase, `amount` is in dollars. */
function inputOf({ originalUrl }: Request) {
  const at = originalUrl.indexOf('?');
  const search = at < 0 ? '' : originalUrl.slice(at);
  const query = new URLSearchParams(search);
  const order = query.get('order');
  if (order !== null && !linkOrderPattern.test(order))
    throw new ApiError('invalidRequest', 'the query is wrong', {
      errors: [{ pointer: '/order', message: 'must have 16 to 128 letters, digits, _ and -' }],
    });
  return { order, amount: query.get('amount') ?? undefined, search };
}

interface About {
  readonly path: string;
  readonly search?: string;
  readonly quote?: string | null;
  readonly isForOldClients?: boolean;
}

function targetOf(deps: RelayDoorsDeps, desk: RelayDesk, about: About): Target {
  const { paymentId } = desk.payment.terms;
  const paymentLink = `${deps.publicUrl()}${payPath(deps.paymentSecrets.secretOf(paymentId))}`;
  return { paymentId, desk, bill: { ...billOf(deps, desk, about), paymentLink } };
}

const billOf = (
  { publicUrl, clock }: RelayDoorsDeps,
  { payment: { terms }, offers }: RelayDesk,
  { path, search = '', quote = null, isForOldClients = true }: About,
): Bill => ({
  url: `${publicUrl()}${path}/x402${search}`,
  description: terms.display.title ?? 'Payment',
  left_s: (epochMs(terms.expiresAt) - epochMs(clock.now())) / 1_000,
  offers,
  quote,
  isForOldClients,
  paymentLink: null,
});

/** The payment of a link. @throws ApiError notFound */
export function paymentIn({ paymentSecrets }: Pick<RelayDoorsDeps, 'paymentSecrets'>, request: Request) {
  const secret = String(request.params['secret']);
  const paymentId = paymentSecrets.paymentIdOf(secret);
  if (paymentId === null) throw noPayment();
  return { secret, paymentId };
}

/** Aborts when the caller has gone away, or has been answered. */
export function closing(response: Response): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}
