import type { Chain, Token } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { unitsText } from '../domain/money.ts';
import * as creation from '../domain/payment/create.ts';
import type { Deposit } from '../domain/payment/events.ts';
import { coveringFee, leastPayout, type PayoutCost } from '../domain/payment/fees.ts';
import { checkContractIntent } from '../domain/payment/intent.ts';
import { lineItemsMax_bytes, metadataMax_bytes, metadataProblem, readLineItems } from '../domain/payment/lineItems.ts';
import type { FundedBy } from '../domain/payment/shapes.ts';
import type { Alternative } from '../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { type FeeOf, feePolicyOf, policyOf, readPayFrom } from './appTerms.ts';
import { type By, createRoleCheck, currentState, type Handle, type RoleCheck } from './handle.ts';
import { formerKeylessIdOf, keylessPaymentIdOf, paymentIdOf, receiverKeylessIdOf } from './paymentId.ts';
import {
  type AppSettings,
  amountPointer,
  askReceiver,
  type NewPayment,
  notAnAddress,
  notOffered,
  type OfferedFee,
  type ReadAmounts,
  type ReadDeps,
  readAmounts,
  readDestination,
  readSide,
  unseenSource,
} from './paymentRequest.ts';
import {
  type Clock,
  type DepositScheme,
  type Ids,
  type ReceiverChecks,
  refuseUnavailable,
  Unavailable,
} from './ports.ts';

// Price of a payment, which depends on the payout's cost on the destination chain.

/** Returns the cost of a payout to a receiver. @throws Unavailable */
export type PayoutCostOf = (chain: Chain, token: Token, receiver: string) => Promise<PayoutCost>;

export type Asked = creation.AskedTerms & Required<Pick<creation.Terms, 'feePolicy' | 'agreed'>>;

export interface Price
  extends Pick<creation.Terms, 'feePolicy' | 'alternatives' | 'tolerable' | 'leastPayout' | 'opensAccount'> {
  readonly agreed: Exclude<ReturnType<typeof creation.agree>, Refusal>;
}

/**
 * Raises the fee to the payout's cost, for each source that the payer may choose; refuses a payout below its own cost.
 *
 * @param asked with the fee before the payout's cost, and the amounts under that fee
 */
export async function pricePayment(costOf: PayoutCostOf, asked: Asked): Promise<Price | Refusal> {
  const { source, destination, alternatives = [], tolerable } = asked;
  const cost = await costTold(costOf, destination);
  if (isRefusal(cost)) return cost;
  const covering = (each: Alternative): Alternative => ({
    ...each,
    feePolicy: coveringFee(each.feePolicy, each.token, cost),
  });
  const price = {
    feePolicy: coveringFee(asked.feePolicy, source.token, cost),
    alternatives: alternatives.map(covering),
    ...(tolerable && { tolerable: tolerable.map(covering) }),
    leastPayout: leastPayout(destination.token, cost),
    ...(cost.opensAccount !== undefined && { opensAccount: cost.opensAccount }),
  };
  const agreed = creation.agreeOnPrice({ ...asked, ...price }, asked);
  return isRefusal(agreed) ? agreed : { ...price, agreed };
}

async function costTold(
  costOf: PayoutCostOf,
  { chain, token, receiverAddress }: creation.AskedTerms['destination'],
): Promise<PayoutCost | Refusal> {
  try {
    return await costOf(chain, token, receiverAddress);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const message = `${chain.name} cannot be asked at present what a payout costs: try again in a moment`;
    return refuseUnavailable(error, message);
  }
}

/** Keeps fees that were offered before; the payout's cost may have changed since. */
function withOfferedFees(price: Price, asked: Asked, [own, ...others]: readonly OfferedFee[]): Price | Refusal {
  const alternatives = price.alternatives ?? [];
  if (!own || others.length !== alternatives.length)
    return refuse('conflict', 'the sources of this payment have changed: request it again');
  const offered = {
    ...price,
    feePolicy: { ...price.feePolicy, ...own },
    alternatives: alternatives.map((each, at) => ({ ...each, feePolicy: { ...each.feePolicy, ...others[at] } })),
  };
  const agreed = creation.agree({ ...asked, ...offered });
  return isRefusal(agreed) ? agreed : { ...offered, agreed };
}

export type { AppSettings, NewPayment, Settlement } from './paymentRequest.ts';

export interface CreatePaymentDeps extends ReadDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly deposits: Partial<Record<Chain['family'], DepositScheme>>;
  readonly canReceive: ReceiverChecks;
  readonly feeOf: FeeOf;
  /** Cost of a payout, which the fee must cover. */
  readonly payoutCostOf: PayoutCostOf;
  /** Cashback of payers of new payments. Default: none. */
  readonly cashback_basisPoints?: number;
  /**
   * Checks that the treasury's float and gas cover all open payments plus this payout; a refusal has a retry time. `pointer` names the
   * field with the amount; `by` is the app whose key creates it, null without a key. Money that arrives within `life_ms` counts.
   */
  readonly checkRoute: (
    destination: Chain,
    token: Token,
    payout: bigint | null,
    pointer: string,
    by: string | null,
    life_ms: number,
  ) => Refusal | undefined;
  /** Returns when the payout can be made, if it waits for money that is in transit; null if it does not wait. Default: null. */
  readonly payoutExpectedAt?: (
    destination: Chain,
    token: Token,
    payout: bigint | null,
    by: string | null,
  ) => Instant | null;
  /** Reserves capacity for one more open payment of the app. Default: no limit. */
  readonly takePlace?: TakePlace;
  /** Default: reads the app in the same log. */
  readonly roleCheck?: RoleCheck;
}

/** Reserves one of an app's open payments. @returns a refusal if all are in use @throws Unavailable */
export type TakePlace = (appId: string, by: Pick<Creator, 'keyless'>) => Promise<Refusal | undefined>;

/** The funded refund that a new payment pays out, and the payment's own id. */
export interface Refunding {
  readonly paymentId: string;
  readonly refundOf: FundedBy;
  /** Later the payment is not created any more: the refund has ended without it. */
  readonly createdBy: Instant;
}

/** Creator of a payment; a caller without a key has fewer rights. */
export interface Creator extends By {
  readonly keyless: boolean;
}

export interface CreatedPayment {
  readonly payment: Payment;
  readonly createdNow: boolean;
  /** Time of its last change. */
  readonly at: Instant;
  readonly position: bigint | null;
}

/**
 * Creates a payment, or returns the existing payment of the orderId.
 *
 * The orderId determines the payment's id, so two creators reach the same stream and `no_stream` admits one: idempotent without a look-up.
 * An invalid request is refused, also for a known orderId. A valid one returns the existing payment even if it could not be created now:
 * chains are queried only for new payments. Crash before the append: nothing exists, the caller's retry creates it. Crash after it: the
 * retry returns the payment.
 * @param refunding omitted for a sale
 */
export async function createPayment(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  caller: Creator,
  refunding?: Refunding,
): Promise<CreatedPayment | Refusal> {
  const check = deps.roleCheck ?? createRoleCheck(deps.handle);
  const refused = await check(app.appId, caller, 'createPayment');
  const asked = refused ?? metadataRefusal(request, caller) ?? readTerms(deps, request, app, caller);
  if (isRefusal(asked)) return asked;
  const paymentId = refunding?.paymentId ?? (await paymentIdFor(deps, app, request, caller.keyless, asked));
  const fit = await fitOf(deps, asked, { paymentId, appId: app.appId, keyless: caller.keyless });
  const { metadata } = request;
  const { display } = asked;
  const { appId } = app;
  const decide = (state: PaymentState) => {
    if (state) return creation.repeatOrder(state, { ...asked, display, metadata });
    if (isRefusal(fit)) return fit;
    const own = { paymentId, keyless: caller.keyless };
    const terms = newTerms(deps, { ...asked, ...fit }, request, app, own);
    if (!refunding) return creation.createPayment(state, terms);
    if (deps.clock.now() > refunding.createdBy)
      return refuse('conflict', 'the refund has waited too long: order it again');
    const { cashback_basisPoints: _, ...unearned } = terms;
    return creation.createPayment(state, { ...unearned, refundOf: refunding.refundOf });
  };
  const { keyless: _, ...by } = caller;
  const handled = await deps.handle(paymentDecider, paymentId, decide, { ...by, appId, expectNew: true });
  if (isRefusal(handled)) return handled;
  const { state, appended, at, position } = handled;
  assert(state !== null && at !== null, 'a payment that is created exists');
  return { payment: state, createdNow: appended > 0, at, position };
}

export interface PaymentQuote extends creation.Quote {
  /** When the payout can be made, if it waits for money that is in transit; null if it does not wait. */
  readonly payoutExpectedAt: Instant | null;
}

/**
 * Quotes a payment. Writes nothing, assigns no address and reserves no capacity.
 *
 * @returns a refusal if creating it would be refused
 */
export async function quotePayment(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  caller: Pick<Creator, 'keyless'>,
): Promise<PaymentQuote | Refusal> {
  const asked = metadataRefusal(request, caller) ?? readTerms(deps, request, app, caller);
  if (isRefusal(asked)) return asked;
  const price = await priceFor(deps, asked, { appId: app.appId, keyless: caller.keyless });
  if (isRefusal(price)) return price;
  const unfit = await receiverRefusal(deps, asked, price);
  if (unfit) return unfit;
  const { destination, payout } = asked;
  const by = caller.keyless ? null : app.appId;
  const payoutExpectedAt = deps.payoutExpectedAt?.(destination.chain, destination.token, payout, by) ?? null;
  return { ...creation.quoteOf({ ...asked, ...price }, price.agreed), payoutExpectedAt };
}

/** A payment as it would be created now, or the existing payment of its order. */
export interface DraftedPayment {
  readonly payment: Payment;
  readonly exists: boolean;
}

/** Drafts a payment with its deposit. Writes nothing and reserves no capacity. @returns a refusal if creating it would be refused */
export async function draftPayment(
  deps: Omit<CreatePaymentDeps, 'takePlace'>,
  request: NewPayment,
  app: AppSettings,
  { keyless }: Pick<Creator, 'keyless'>,
): Promise<DraftedPayment | Refusal> {
  const asked = metadataRefusal(request, { keyless }) ?? readTerms(deps, request, app, { keyless });
  if (isRefusal(asked)) return asked;
  const paymentId = await paymentIdFor(deps, app, request, keyless, asked);
  const known = await currentState(deps.handle, paymentDecider, paymentId);
  if (known) return { payment: known, exists: true };
  const fit = await fitOf(deps, asked, { paymentId, appId: app.appId, keyless });
  if (isRefusal(fit)) return fit;
  const decided = creation.createPayment(
    null,
    newTerms(deps, { ...asked, ...fit }, request, app, { paymentId, keyless }),
  );
  if (isRefusal(decided)) return decided;
  const payment = decided.reduce<PaymentState>(paymentDecider.evolve, paymentDecider.initial);
  assert(payment !== null, 'a payment that is drafted exists');
  return { payment, exists: false };
}

/** Terms of a payment that is created now. */
function newTerms<T extends ReadTerms & Price & { readonly deposit: Deposit }>(
  { clock, cashback_basisPoints = 0 }: Pick<CreatePaymentDeps, 'clock' | 'cashback_basisPoints'>,
  fit: T,
  { orderId, metadata }: NewPayment,
  { appId, webhookUrl, webhookTypes = [], webhookEndpoints = [] }: AppSettings,
  own: { readonly paymentId: string; readonly keyless: boolean },
): creation.Terms {
  const news = { webhookUrl, webhookTypes, webhookEndpoints };
  return { ...fit, ...own, appId, orderId, metadata, ...news, cashback_basisPoints, now: clock.now() };
}

/** Terms of the request, the fee in force for them, and derived values. */
interface ReadTerms
  extends creation.AskedTerms,
    Pick<Asked, 'feePolicy' | 'agreed'>,
    Pick<creation.Terms, 'display' | 'life_ms'> {
  readonly scheme: DepositScheme;
  readonly offeredFees: readonly OfferedFee[] | undefined;
  /** In the destination's units; null if any amount is accepted. */
  readonly payout: bigint | null;
}

function metadataRefusal({ metadata }: NewPayment, { keyless }: Pick<Creator, 'keyless'>): Refusal | undefined {
  const max_bytes = keyless ? metadataMax_bytes.keyless : metadataMax_bytes.keyed;
  const problem = metadata === null ? undefined : metadataProblem(metadata, max_bytes);
  return problem && refuse('invalidRequest', problem.message, `/metadata${problem.path}`);
}

/** Checks the request itself, without queries. */
function readTerms(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  { keyless }: Pick<Creator, 'keyless'>,
): ReadTerms | Refusal {
  const { intent } = request;
  const own = { ...app, keyless };
  if (intent !== null && !Object.values(deps.deposits).some(({ intents }) => intents.includes(intent))) {
    return refuse('invalidRequest', `intent ${intent} is not offered by this installation: remove it`, '/intent');
  }
  const life_ms = creation.lifetimeOf(request.expiresInSeconds ?? null, { intent, keyless });
  if (isRefusal(life_ms)) return life_ms;
  const source = readSide(deps, request.source, '/source');
  if (isRefusal(source)) return source;
  const destination = readDestination(deps, request, app);
  if (isRefusal(destination)) return destination;
  const sender = request.source.senderAddress;
  const unfit = intent === null ? undefined : checkContractIntent(source, destination, sender);
  if (unfit) return unfit;
  const amounts = readAmounts(request, source, destination);
  if (isRefusal(amounts)) return amounts;
  const display = readDisplay(request, amounts, { source, destination, keyless });
  if (isRefusal(display)) return display;
  const scheme = deps.deposits[source.chain.family];
  if (!scheme) return notOffered(source.chain, '/source/chainId');
  const senderAddress = sender === undefined ? null : deps.addresses.canonical(source.chain, sender);
  if (sender !== undefined && senderAddress === null) return notAnAddress(source.chain, '/source/senderAddress');
  const terms = {
    type: amounts.type,
    intent,
    source: { ...source, amount: amounts.source, senderAddress },
    destination: { ...destination, amount: amounts.destination },
    feePolicy: feePolicyOf(deps, own, source, destination.chain),
  };
  const agreed = creation.agree(terms);
  if (isRefusal(agreed)) return agreed;
  const payout = agreed?.destination ?? null;
  const hasDeposits = ({ family }: Chain): boolean => deps.deposits[family] !== undefined;
  const alternatives = readPayFrom({ ...deps, hasDeposits }, request, own, { source, destination, payout });
  if (isRefusal(alternatives)) return alternatives;
  const policy = policyOf({ ...deps, hasDeposits }, own, intent, destination.chain);
  return {
    ...terms,
    ...policy,
    display,
    agreed,
    life_ms,
    alternatives,
    asksAlternatives: Boolean(request.payFrom),
    offeredFees: request.offeredFees,
    scheme,
    payout,
  };
}

interface OrderSides {
  readonly source: { readonly token: Token };
  readonly destination: { readonly token: Token };
  readonly keyless: boolean;
}

/** Returns the texts of the request. A refusal names the line item that the order cannot have. */
function readDisplay(
  { display: { lineItems = [], ...texts } }: NewPayment,
  { type, ...amounts }: ReadAmounts,
  { keyless, ...sides }: OrderSides,
): creation.Terms['display'] | Refusal {
  if (lineItems.length === 0) return texts;
  const side = type === 'exactIn' ? 'source' : 'destination';
  const order = { amount: amounts[side], token: sides[side].token };
  const read = readLineItems(lineItems, order, lineItemsMax_bytes[keyless ? 'keyless' : 'keyed']);
  if ('message' in read) return refuse('invalidRequest', read.message, `/display/lineItems${read.path}`);
  return { ...texts, lineItems: [...read] };
}

/** Returns the order's payment id; without an orderId, a new one. Keyless payments of older versions keep their ids. */
async function paymentIdFor(
  { ids, handle }: CreatePaymentDeps,
  { idSalt }: AppSettings,
  request: NewPayment,
  keyless: boolean,
  asked: ReadTerms,
): Promise<string> {
  const { orderId, metadata } = request;
  const { display } = asked;
  if (orderId === null) return ids.paymentId();
  if (!keyless) return paymentIdOf(idSalt, orderId);
  const { chain, receiverAddress: address, receiverMemo: memo } = asked.destination;
  const receiver = { chainId: chain.id, address, memo };
  const formerIds = [formerKeylessIdOf(idSalt, orderId), receiverKeylessIdOf(idSalt, orderId, receiver)];
  const former = await Promise.all(formerIds.map((id) => currentState(handle, paymentDecider, id)));
  const repeats = former.find(
    (state) => state && !isRefusal(creation.repeatOrder(state, { ...asked, display, metadata })),
  );
  return repeats?.terms.paymentId ?? keylessPaymentIdOf(idSalt, orderId, receiver, boundBy(request, asked));
}

/** Returns the terms and texts that an order without a key binds: a request with others gets another payment. */
function boundBy({ metadata }: NewPayment, asked: ReadTerms): string {
  const { type, intent, source, destination, alternatives = [], asksAlternatives } = asked;
  const sideOf = ({ chain, token, amount }: Pick<ReadTerms['source'], 'chain' | 'token' | 'amount'>) => [
    chain.id,
    token.address,
    amount === null ? null : unitsText(amount),
  ];
  const offered = alternatives.map(({ chain, token }) => `${chain.id} ${token.address}`).toSorted();
  const { title, description, currency, lineItems } = asked.display;
  return JSON.stringify([
    ...[type, intent, sideOf(source), source.senderAddress, sideOf(destination)],
    ...[asksAlternatives ? offered : null, title, description, currency, metadata],
    ...(lineItems ? [lineItems] : []),
  ]);
}

interface Asking {
  readonly appId: string;
  readonly keyless: boolean;
}

/** Price and deposits, after checks of treasury, receiver and the app's capacity. */
async function fitOf(
  deps: CreatePaymentDeps,
  asked: ReadTerms,
  { paymentId, ...asking }: Asking & { readonly paymentId: string },
): Promise<(Price & { readonly deposit: Deposit }) | Refusal> {
  const price = await priceFor(deps, asked, asking);
  if (isRefusal(price)) return price;
  const { appId, keyless } = asking;
  const unfit =
    (await deps.takePlace?.(appId, { keyless }).catch(unavailable)) ?? (await receiverRefusal(deps, asked, price));
  if (unfit) return unfit;
  const deposit = await asked.scheme.assign(paymentId, asked.source.token, asked.intent).catch(unavailable);
  return isRefusal(deposit) ? deposit : { ...price, deposit };
}

async function priceFor(
  deps: CreatePaymentDeps,
  asked: ReadTerms,
  { appId, keyless }: Asking,
): Promise<Price | Refusal> {
  const { checkRoute, payoutCostOf } = deps;
  const { source, alternatives = [], destination, payout, life_ms } = asked;
  const unseen =
    unseenSource(deps, source.chain, '/source/chainId') ??
    alternatives.map(({ chain }, index) => unseenSource(deps, chain, `/payFrom/${index}/chainId`)).find(Boolean);
  if (unseen) return unseen;
  const by = keyless ? null : appId;
  const { chain, token } = destination;
  const unpayable = checkRoute(chain, token, payout, amountPointer(asked.type), by, life_ms ?? creation.lifetime_ms);
  const price = unpayable ?? (await pricePayment(payoutCostOf, asked));
  return isRefusal(price) || !asked.offeredFees ? price : withOfferedFees(price, asked, asked.offeredFees);
}

async function receiverRefusal(
  { canReceive }: CreatePaymentDeps,
  { destination }: ReadTerms,
  { agreed }: Price,
): Promise<Refusal | undefined> {
  const ask = canReceive[destination.chain.family];
  const amount = agreed?.destination ?? null;
  const receiving = { ...destination, receiver: destination.receiverAddress, amount };
  return ask && askReceiver(ask, receiving, '/destination/receiverAddress', '/destination/receiverMemo');
}

function unavailable(error: unknown): Refusal {
  if (error instanceof Unavailable) return refuseUnavailable(error);
  throw error;
}
