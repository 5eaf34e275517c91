/** Reads a create request: chains, tokens and receiver, each refused with a pointer to its field. */

import { type Chain, chains, findChain, findToken, isAddressOf, memoProblem, type Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { FeeTier, PayFrom } from '../domain/merchant/events.ts';
import { convert, microUsdDecimals, parseAmount, usDollar } from '../domain/money.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { Terms } from '../domain/payment/create.ts';
import type { EndpointTerms, PaymentType } from '../domain/payment/events.ts';
import type { FeePolicy } from '../domain/payment/fees.ts';
import type { Intent } from '../domain/payment/intent.ts';
import type { LineItem, Metadata } from '../domain/payment/lineItems.ts';
import { type AddressSpelling, type CanReceive, refuseUnavailable, Unavailable } from './ports.ts';

export interface ReadDeps {
  readonly addresses: AddressSpelling;
  /** True if this installation serves the chain. */
  readonly offers: (chain: Chain) => boolean;
  /** False if payins on the chain cannot be read, because all its nodes are of another network. Default: true. */
  readonly canSeePayins?: (chain: Chain) => boolean;
}

/** A create request of a valid shape; amounts, chains and addresses are in the caller's spelling. */
export interface NewPayment {
  readonly appId: string;
  readonly orderId: string | null;
  /** Null if the amounts determine it. */
  readonly type: PaymentType | null;
  readonly intent: Intent | null;
  readonly display: {
    readonly title: string | null;
    readonly description: string | null;
    readonly currency: string | null;
    /** Lines of the order. Default: none. */
    readonly lineItems?: readonly LineItem[];
  };
  readonly metadata: Metadata | null;
  readonly source: Side & { readonly senderAddress?: string | undefined };
  readonly destination:
    | ({ readonly [Field in keyof Side]?: Side[Field] | undefined } & {
        readonly receiverAddress?: string | undefined;
        readonly receiverMemo?: string | null | undefined;
      })
    | null;
  /** Other sources that payers may choose; null or omitted for the app's settings. */
  readonly payFrom?: readonly Side[] | null;
  /** Life of the payment; null or omitted for one hour. */
  readonly expiresInSeconds?: number | null;
  /** Fees that were offered for this request before: of the source, then of each alternative. Default: the fees in force now. */
  readonly offeredFees?: readonly OfferedFee[];
}

export type OfferedFee = Pick<FeePolicy, 'fixed' | 'basisPoints'>;

export interface Side {
  readonly chainId: string | number;
  readonly tokenSymbol: string;
  /** Optional; if sent, it must match the token. */
  readonly tokenAddress?: string | undefined;
  readonly amount?: string | undefined;
}

/** Current settings of an app; the terms hold those in force at creation. */
export interface AppSettings {
  readonly appId: string;
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  /** Types of webhooks that the app chose besides the first two. */
  readonly webhookTypes?: readonly string[];
  /** Endpoints besides the webhook URL. */
  readonly webhookEndpoints?: readonly EndpointTerms[];
  /** The only payout wallet of a `merchant_` app. */
  readonly settlement: Settlement | null;
  /** Sources that its payers may choose. */
  readonly payFrom?: PayFrom;
  /** Policy for wrong amounts. */
  readonly policy?: AmountPolicy;
  /** The app's own fees. */
  readonly fees?: readonly FeeTier[];
}

export interface Settlement {
  readonly chainId: number;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
}

/** Refuses a source whose payins cannot be read; undefined if they can. */
export function unseenSource(
  { canSeePayins = () => true }: Pick<ReadDeps, 'canSeePayins'>,
  chain: Chain,
  pointer: string,
): Refusal | undefined {
  if (canSeePayins(chain)) return undefined;
  const message = `payments on ${chain.name} cannot be seen at present: choose another source, or try again later`;
  return refuse('routeUnavailable', message, pointer);
}

export function readSide(
  deps: Pick<ReadDeps, 'offers'>,
  side: Side,
  pointer: string,
): { chain: Chain; token: Token } | Refusal {
  const chain = findChain(side.chainId);
  if (!chain) {
    const known = chains.map(({ id, name }) => `${id} (${name})`).join(', ');
    return refuse('invalidRequest', `unknown chain: use one of ${known}`, `${pointer}/chainId`);
  }
  if (!deps.offers(chain)) return notOffered(chain, `${pointer}/chainId`);
  const token = findToken(chain, side.tokenSymbol.toUpperCase());
  if (!token) {
    const known = chain.tokens.map(({ symbol }) => symbol).join(', ');
    return refuse(
      'invalidRequest',
      `${chain.name} has no such token here: use one of ${known}`,
      `${pointer}/tokenSymbol`,
    );
  }
  return wrongTokenAddress({ chain, token }, side.tokenAddress, pointer) ?? { chain, token };
}

function wrongTokenAddress(
  { chain, token }: { readonly chain: Chain; readonly token: Token },
  stated: string | undefined,
  pointer: string,
): Refusal | undefined {
  if (stated === undefined || isAddressOf(token, stated)) return undefined;
  const message = `${token.symbol} on ${chain.name} is ${token.address}: leave tokenAddress out`;
  return refuse('invalidRequest', message, `${pointer}/tokenAddress`);
}

type Destination = Pick<Terms['destination'], 'chain' | 'token' | 'receiverAddress' | 'receiverMemo'>;

/** A `merchant_` app is paid out only to its settlement wallet; a `wallet_` app names the receiver of each payment. */
export function readDestination(deps: ReadDeps, request: NewPayment, app: AppSettings): Destination | Refusal {
  const stated = request.destination ?? {};
  if (app.appId.startsWith('merchant_')) return settlementOf(deps, stated, app);
  for (const field of ['chainId', 'tokenSymbol', 'receiverAddress'] as const) {
    if (stated[field] === undefined)
      return refuse('invalidRequest', `destination.${field} is required`, `/destination/${field}`);
  }
  const side = readSide(deps, stated as Side, '/destination');
  if (isRefusal(side)) return side;
  const receiverAddress = deps.addresses.canonical(side.chain, stated.receiverAddress ?? '');
  if (receiverAddress === null) return notAnAddress(side.chain, '/destination/receiverAddress');
  const receiverMemo = stated.receiverMemo ?? null;
  const problem = receiverMemo === null ? undefined : memoProblem(side.chain, receiverAddress, receiverMemo);
  if (problem) return refuse('invalidRequest', problem, '/destination/receiverMemo');
  return { ...side, receiverAddress, receiverMemo };
}

/** Settlement fields that a request repeats must match the wallet, in any spelling of chain and address. */
function settlementOf(
  deps: ReadDeps,
  stated: NonNullable<NewPayment['destination']>,
  { settlement }: AppSettings,
): Destination | Refusal {
  if (!settlement) {
    return refuse('settlementMissing', 'the app has no settlement wallet: set one before creating payments');
  }
  const side = readSide(deps, settlement, '/destination');
  if (isRefusal(side)) return side;
  const { receiverAddress, receiverMemo } = settlement;
  const { chainId = settlement.chainId, tokenSymbol = settlement.tokenSymbol } = stated;
  const differs = {
    chainId: findChain(chainId)?.id !== side.chain.id,
    tokenSymbol: tokenSymbol.toUpperCase() !== settlement.tokenSymbol,
    receiverAddress:
      stated.receiverAddress !== undefined &&
      deps.addresses.canonical(side.chain, stated.receiverAddress) !== receiverAddress,
    receiverMemo: (stated.receiverMemo ?? receiverMemo) !== receiverMemo,
  };
  const field = Object.entries(differs).find(([, different]) => different)?.[0];
  if (field) {
    const message = 'payouts of this app go to its settlement wallet: leave destination unset, or send only its amount';
    return refuse('forbidden', message, `/destination/${field}`);
  }
  const wrong = wrongTokenAddress(side, stated.tokenAddress, '/destination');
  if (wrong) return wrong;
  return { ...side, receiverAddress, receiverMemo };
}

export const notOffered = (chain: Chain, pointer: string): Refusal =>
  refuse('invalidRequest', `${chain.name} is not offered by this installation: choose another chain`, pointer);

export const notAnAddress = (chain: Chain, pointer: string): Refusal =>
  refuse(
    'invalidRequest',
    `this is no ${chain.name} address of a wallet, or its checksum is wrong: check every character`,
    pointer,
  );

interface Receiving {
  readonly chain: Chain;
  readonly token: Token;
  readonly receiver: string;
  /** In smallest units; null while unknown. */
  readonly amount: bigint | null;
  readonly receiverMemo: string | null;
}

/**
 * Queries whether the receiver can receive the token. An unavailable chain is a refusal too.
 *
 * @param pointer of the field that names the receiver
 * @param memoPointer of the field that holds its memo
 */
export async function askReceiver(
  ask: CanReceive,
  { chain, token, receiver, amount, receiverMemo }: Receiving,
  pointer: string,
  memoPointer: string,
): Promise<Refusal | undefined> {
  try {
    const refusal = await ask(chain, token, receiver, amount, receiverMemo);
    const at = refusal?.refused === 'memoRequired' ? memoPointer : pointer;
    return refusal && refuse(refusal.refused, refusal.message, at);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const message = `${chain.name} cannot be asked at present whether the receiver takes ${token.symbol}: try again in a moment`;
    return refuseUnavailable(error, message);
  }
}

// Reads type and amounts of a create request; each refusal has a pointer to its field.

export interface ReadAmounts {
  readonly type: PaymentType;
  /** In the token's own units; null except on the side that the type uses. */
  readonly source: bigint | null;
  readonly destination: bigint | null;
}

type Stated = Pick<NewPayment, 'type' | 'intent'> & {
  readonly source: { readonly amount?: string | undefined };
  readonly destination: { readonly amount?: string | undefined } | null;
};

/** Side of a request that carries the amount. */
const amountSide: Readonly<Record<PaymentType, 'source' | 'destination' | null>> = {
  exactIn: 'source',
  exactOut: 'destination',
  anyAmount: null,
};

/** Field of the amount; of the type itself if it accepts any amount. */
export const amountPointer = (type: PaymentType): string =>
  amountSide[type] === null ? '/type' : `/${amountSide[type]}/amount`;

/** The other side's amount is ignored: it follows from the agreed one, and clients may send back what they received. */
export function readAmounts(
  request: Stated,
  source: { readonly token: Token },
  destination: { readonly token: Token },
): ReadAmounts | Refusal {
  const type = readType(request);
  if (typeof type !== 'string') return type;
  const takes = amountSide[type];
  if (takes === null) return noAmounts(request);
  const text = request[takes]?.amount;
  const pointer = amountPointer(type);
  if (text === undefined) return refuse('invalidRequest', `${type} needs ${takes}.amount`, pointer);
  const amount = readAmount(text, takes === 'source' ? source.token : destination.token, pointer);
  if (isRefusal(amount)) return amount;
  return { type, source: null, destination: null, [takes]: amount };
}

/** The type in the request, or the only one that its amounts allow. */
function readType({ type, intent, source, destination }: Stated): PaymentType | Refusal {
  if (type !== null) return type;
  const [goesIn, comesOut] = [source.amount !== undefined, destination?.amount !== undefined];
  if (goesIn && comesOut) {
    const message = 'source.amount would mean exactIn, destination.amount exactOut: send one of them, or the type';
    return refuse('invalidRequest', message, '/type');
  }
  if (goesIn) return 'exactIn';
  if (comesOut) return 'exactOut';
  if (intent !== null) return 'anyAmount';
  const message =
    'is not said, neither by an amount: send source.amount (exactIn), destination.amount (exactOut) or a type';
  return refuse('invalidRequest', message, '/type');
}

function noAmounts({ source, destination }: Stated): ReadAmounts | Refusal {
  for (const [side, stated] of Object.entries({ source, destination })) {
    if (stated?.amount === undefined) continue;
    return refuse('invalidRequest', `anyAmount accepts no ${side}.amount: remove it`, `/${side}/amount`);
  }
  return { type: 'anyAmount', source: null, destination: null };
}

function readAmount(text: string, token: Token, pointer: string): bigint | Refusal {
  const { decimals, symbol } = token;
  const amount = parseAmount(text, decimals);
  if (typeof amount === 'string') {
    const message = {
      notDecimal: 'amounts are plain decimal strings greater than zero, like "10.00"',
      tooManyDecimals: `${symbol} has ${decimals} decimals on this chain: use at most that many`,
      tooLong: 'the amount has too many digits',
    }[amount];
    return refuse('invalidRequest', message, pointer);
  }
  if (amount <= convert(amountMax_usd, usDollar, token)) return amount;
  return refuse('invalidRequest', `the amount is above the limit of ${amountMax_usd} per payment`, pointer);
}

/** Maximum payment: far more than a hot treasury holds, and far less than a database column's limit. */
export const amountMax_usd = 1_000_000_000n;

/** Reads a decimal text in dollars. @param pointer of its field */
export function readMicroUsd(text: string, pointer: string): bigint | Refusal {
  const amount = parseAmount(text, microUsdDecimals);
  if (typeof amount === 'bigint') return amount;
  const places = `must be an amount like 10.00 with at most ${microUsdDecimals} decimals`;
  return refuse('invalidRequest', places, pointer);
}
