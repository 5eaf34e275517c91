import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Chain, Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { rescale } from '../domain/money.ts';
import * as creation from '../domain/payment/create.ts';
import { checkContractIntent } from '../domain/payment/intent.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { type By, currentState, type Handle } from './handle.ts';
import {
  type AppSettings,
  askReceiver,
  type NewPayment,
  notAnAddress,
  notOffered,
  payoutAtMost,
  type ReadDeps,
  readAmounts,
  readDestination,
  readSide,
} from './paymentRequest.ts';
import { type Clock, type DepositScheme, type Ids, type ReceiverChecks, Unavailable } from './ports.ts';

export type { AppSettings, NewPayment, Settlement } from './paymentRequest.ts';

export interface CreatePaymentDeps extends ReadDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly deposits: Partial<Record<Chain['family'], DepositScheme>>;
  readonly canReceive: ReceiverChecks;
  /** Fixed fee in millionths of a dollar and basis points of a route. */
  readonly feeOf: (
    source: Chain,
    destination: Chain,
  ) => { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  /** Whether the treasury's float and gas can cover what is open plus this payout; a refusal says when to try again. */
  readonly checkRoute: (destination: Chain, token: Token, amount: bigint | null) => Refusal | undefined;
}

/** Who creates it; a caller without a key is kept to what such callers may do. */
export interface Creator extends By {
  readonly keyless: boolean;
}

export interface CreatedPayment {
  readonly payment: Payment;
  readonly createdNow: boolean;
  /** When it was written; null when it stood already. */
  readonly at: Instant | null;
  readonly position: bigint | null;
}

/**
 * Creates a payment, or answers the one that the app's orderId already has, whatever the new body says.
 *
 * An orderId gives the payment its id, so two creators meet at the same stream and `no_stream` lets one through:
 * idempotent by construction, with no look-up before.
 * Crash before the append: nothing exists, the caller's retry creates. After it: the retry is answered with the payment.
 */
export async function createPayment(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  { keyless, ...by }: Creator,
): Promise<CreatedPayment | Refusal> {
  const paymentId = request.orderId === null ? deps.ids.paymentId() : paymentIdOf(app.idSalt, request.orderId, keyless);
  const terms = await readTerms(deps, request, app, paymentId, keyless);
  if (isRefusal(terms)) return (await existing(deps, request, paymentId)) ?? terms;
  const handled = await deps.handle(paymentDecider, paymentId, (state) => creation.createPayment(state, terms), {
    ...by,
    appId: app.appId,
    expectNew: true,
  });
  if (isRefusal(handled)) return handled;
  const { state, appended, at, position } = handled;
  return { payment: state as Payment, createdNow: appended > 0, at, position };
}

/** A repeated orderId is answered with its payment even when the repeated body is wrong. */
async function existing(
  deps: CreatePaymentDeps,
  request: NewPayment,
  paymentId: string,
): Promise<CreatedPayment | undefined> {
  if (request.orderId === null) return undefined;
  const found = await currentState(deps.handle, paymentDecider, paymentId);
  return found ? { payment: found, createdNow: false, at: null, position: null } : undefined;
}

async function readTerms(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  paymentId: string,
  keyless: boolean,
): Promise<creation.Terms | Refusal> {
  const { intent } = request;
  if (intent !== null && !Object.values(deps.deposits).some(({ intents }) => intents.includes(intent))) {
    return refuse('invalidRequest', `intent ${intent} is not offered by this installation: leave it out`, '/intent');
  }
  const source = readSide(deps, request.source, '/source');
  if (isRefusal(source)) return source;
  const destination = readDestination(deps, request, app);
  if (isRefusal(destination)) return destination;
  const sender = request.source.senderAddress;
  const unfit = intent === null ? undefined : checkContractIntent(source, destination, sender);
  if (unfit) return unfit;
  const amounts = readAmounts(request, source, destination);
  if (isRefusal(amounts)) return amounts;
  const scheme = deps.deposits[source.chain.family];
  if (!scheme) return notOffered(source.chain, '/source/chainId');
  const senderAddress = sender === undefined ? null : deps.addresses.canonical(source.chain, sender);
  if (sender !== undefined && senderAddress === null) return notAnAddress(source.chain, '/source/senderAddress');
  const payout = payoutAtMost(amounts, source, destination);
  const unpayable = deps.checkRoute(destination.chain, destination.token, payout);
  if (unpayable) return unpayable;
  const ask = deps.canReceive[destination.chain.family];
  if (ask) {
    const asked = { ...destination, receiver: destination.receiverAddress, amount: payout };
    const unreceivable = await askReceiver(ask, asked, '/destination/receiverAddress');
    if (unreceivable) return unreceivable;
  }
  const deposit = await scheme.assign(paymentId, source.token, intent).catch(unavailable);
  if (isRefusal(deposit)) return deposit;
  const { fixed_microUsd, basisPoints } = deps.feeOf(source.chain, destination.chain);
  return {
    paymentId,
    appId: app.appId,
    orderId: request.orderId,
    keyless,
    type: request.type,
    intent,
    display: request.display,
    metadata: request.metadata,
    source: { ...source, amount: amounts.source, senderAddress },
    destination: { ...destination, amount: amounts.destination },
    feePolicy: { fixed: rescale(fixed_microUsd, microUsdDecimals, source.token.decimals), basisPoints },
    deposit,
    webhookUrl: app.webhookUrl,
    now: deps.clock.now(),
  };
}

function unavailable(error: unknown): Refusal {
  if (error instanceof Unavailable) return refuse('unavailable', error.message);
  throw error;
}

const microUsdDecimals = 6;

/** Formats 16 bytes as a UUID of version 8 (RFC 9562, 5.8: content is the application's own). */
export function uuidV8(bytes: Uint8Array): string {
  const octets = Buffer.from(bytes.subarray(0, 16));
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x80, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * The payment id of an order: the same for the same app and order, so that creating twice meets the same stream,
 * and not guessable without the app's salt.
 *
 * @param idSalt the app's random salt (hex), recorded at its registration
 * @param keyless created without a key: an id of its own, so that a stranger cannot take an order id before its app does
 */
export function paymentIdOf(idSalt: string, orderId: string, keyless = false): string {
  const order = Buffer.from(orderId, 'utf8');
  const head = Buffer.alloc(5);
  head.writeUInt8(keyless ? 1 : 0);
  head.writeUInt32BE(order.length, 1);
  return uuidV8(createHmac('sha256', keyOf(idSalt)).update(head).update(order).digest());
}

/** The ids that payments of an order can have: the app's own before one that was created without a key. */
export const paymentIdsOf = (idSalt: string, orderId: string): readonly string[] => [
  paymentIdOf(idSalt, orderId),
  paymentIdOf(idSalt, orderId, true),
];

/** Making a key costs five times what using it costs; few apps create most payments. */
const keys = new Map<string, KeyObject>();
const keysMax = 1_000;

function keyOf(idSalt: string): KeyObject {
  const known = keys.get(idSalt);
  if (known) return known;
  if (keys.size >= keysMax) keys.clear();
  const key = createSecretKey(Buffer.from(idSalt, 'hex'));
  keys.set(idSalt, key);
  return key;
}
