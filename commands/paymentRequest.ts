/** Reads a create request: chains, tokens and receiver, each refused with a pointer to its field. */

import { type Chain, chains, findChain, findToken, isAddressOf, memoProblem, type Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { FeeTier, PayFrom } from '../domain/merchant/events.ts';
import { microUsdDecimals, parseAmount, units } from '../domain/money.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { Terms } from '../domain/payment/create.ts';
import type { PaymentType } from '../domain/payment/events.ts';
import type { Intent } from '../domain/payment/intent.ts';
import type { LineItem } from '../domain/payment/lineItems.ts';
import type { Metadata } from '../domain/payment/metadata.ts';
import { type AddressBook, type CanReceive, refuseUnavailable, Unavailable } from './ports.ts';

export interface ReadDeps {
  readonly addresses: AddressBook;
  /** Whether this installation serves the chain. */
  readonly offers: (chain: Chain) => boolean;
  /** Whether payins on the chain can be seen: no, when each of its nodes is of another network. Default: yes. */
  readonly canSeePayins?: (chain: Chain) => boolean;
}

/** A create request whose shape has been checked; amounts, chains and addresses are still as the caller spelled them. */
export interface NewPayment {
  readonly appId: string;
  readonly orderId: string | null;
  /** Null where the amounts say it. */
  readonly type: PaymentType | null;
  readonly intent: Intent | null;
  readonly display: {
    readonly title: string | null;
    readonly description: string | null;
    readonly currency: string | null;
    /** What is bought; omitted, or empty, for nothing. */
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
  /** What payers may choose to pay from besides; null, or left out, for what the app's settings say. */
  readonly payFrom?: readonly Side[] | null;
  /** How long payers have; null, or left out, for the whole hour. */
  readonly expiresInSeconds?: number | null;
}

export interface Side {
  readonly chainId: string | number;
  readonly tokenSymbol: string;
  /** Needed nowhere; where it is sent it must be the token's own. */
  readonly tokenAddress?: string | undefined;
  readonly amount?: string | undefined;
}

/** What an app's settings say at this moment; the terms keep what was in force. */
export interface AppSettings {
  readonly appId: string;
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  /** Where a `merchant_` app is paid out to, always. */
  readonly settlement: Settlement | null;
  /** What its payers may choose to pay from. */
  readonly payFrom?: PayFrom;
  /** What happens with money that is not what was agreed. */
  readonly policy?: AmountPolicy;
  /** Fees of its own. */
  readonly fees?: readonly FeeTier[];
}

export interface Settlement {
  readonly chainId: number;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
}

/** The refusal of a source that nobody could see paid; undefined where payins can be seen. */
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

/** A `merchant_` app is paid out to its settlement wallet and nowhere else; a `wallet_` app says where on each payment. */
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

/** What a request repeats of the settlement wallet must agree with it, however chain and address are spelled. */
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
 * Asks the chain whether the receiver can take the token. A chain that cannot be asked is a refusal too: try again.
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

// Reads what a create request says of its type and amounts, each refused with a pointer to its field.

export interface ReadAmounts {
  readonly type: PaymentType;
  /** In the token's own units; null but for the side that the type takes. */
  readonly source: bigint | null;
  readonly destination: bigint | null;
}

type Stated = Pick<NewPayment, 'type' | 'intent'> & {
  readonly source: { readonly amount?: string | undefined };
  readonly destination: { readonly amount?: string | undefined } | null;
};

/** Which side of a request carries the amount. */
const amountSide: Readonly<Record<PaymentType, 'source' | 'destination' | null>> = {
  exactIn: 'source',
  exactOut: 'destination',
  anyAmount: null,
};

/** Of the field that says how much: of the type's where that takes any amount. */
export const amountPointer = (type: PaymentType): string =>
  amountSide[type] === null ? '/type' : `/${amountSide[type]}/amount`;

/** The other side's amount follows from the agreed one: clients that send back what they got may state it, and it says nothing. */
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

/** The type that the request names, or the only one that its amounts can mean. */
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
    return refuse('invalidRequest', `anyAmount takes no ${side}.amount: leave it out`, `/${side}/amount`);
  }
  return { type: 'anyAmount', source: null, destination: null };
}

function readAmount(text: string, { decimals, symbol }: Token, pointer: string): bigint | Refusal {
  const amount = parseAmount(text, decimals);
  if (typeof amount === 'string') {
    const message = {
      notDecimal: 'amounts are plain decimal strings greater than zero, like "10.00"',
      tooManyDecimals: `${symbol} has ${decimals} decimals on this chain: use at most that many`,
      tooLong: 'the amount has too many digits',
    }[amount];
    return refuse('invalidRequest', message, pointer);
  }
  if (amount <= amountMax(decimals)) return amount;
  return refuse('invalidRequest', `the amount is above the limit of ${amountMax_usd} per payment`, pointer);
}

/** No payment may be larger. This is far more than a hot treasury holds, and far less than a column of the database can. */
export const amountMax_usd = 1_000_000_000n;
const amountMax = (decimals: number) => units(amountMax_usd * 10n ** BigInt(decimals));

/** Reads a decimal text in dollars. @param pointer of the field that states it */
export function readMicroUsd(text: string, pointer: string): bigint | Refusal {
  const amount = parseAmount(text, microUsdDecimals);
  if (typeof amount === 'bigint') return amount;
  const places = `must be an amount like 10.00 with at most ${microUsdDecimals} decimals`;
  return refuse('invalidRequest', places, pointer);
}
