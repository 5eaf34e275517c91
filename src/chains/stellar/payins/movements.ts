/** Reads events as transfers to the treasury, with the memo that identifies the payment. */
import { Address, scValToNative, type xdr } from '@stellar/stellar-sdk';
import type { TokenRef } from '../../../../domain/payment/events.ts';
import type { AssetRef } from '../../../../domain/transfer/shapes.ts';

/** A contract's event, from getEvents or from a transaction. */
export interface SeenEvent {
  readonly contract: string;
  readonly topics: readonly xdr.ScVal[];
  readonly value: xdr.ScVal;
}

/** A transfer of a token to the treasury. */
export interface TreasuryTransfer<A extends AssetRef = TokenRef> {
  readonly token: A;
  /** Paying account or contract. */
  readonly from: string;
  /** The treasury, or the payin contract if the payer called that. */
  readonly to: string;
  readonly memo: string | null;
  readonly amount: bigint;
}

export interface Watched<A extends AssetRef = TokenRef> {
  readonly treasury: string;
  /** Accepted tokens, by asset contract. */
  readonly tokens: ReadonlyMap<string, A>;
  /** Payin contract, and the asset contract of its token. */
  readonly payin: { readonly contract: string; readonly tokenContract: string } | null;
}

/**
 * Transfers of one operation to the treasury, in the order of its events. Only a token's own events move money. An event of the payin
 * contract adds the memo to the previous transfer of the same sender and amount, and does nothing else. So a call of `pay` is one transfer
 * although it makes two events.
 *
 * @param events of a successful transaction's operation, in order
 */
export function transfersToTreasury<A extends AssetRef>(
  { treasury, tokens, payin }: Watched<A>,
  events: readonly SeenEvent[],
): readonly TreasuryTransfer<A>[] {
  const moved: TreasuryTransfer<A>[] = [];
  for (const event of events) {
    const token = tokens.get(event.contract);
    const movement = token && received(event, token, treasury);
    if (movement) moved.push(movement);
    if (event.contract !== payin?.contract) continue;
    const paid = payment(event);
    const at = paid ? moved.findLastIndex((candidate) => isMeant(candidate, paid)) : -1;
    const meant = moved[at];
    if (paid && meant) moved[at] = { ...meant, to: payin.contract, memo: paid.memo };
  }
  return moved.filter(({ amount }) => amount > 0n);

  function isMeant(
    { token, from, to, amount }: TreasuryTransfer<A>,
    paid: Pick<TreasuryTransfer, 'from' | 'amount'>,
  ): boolean {
    const taken = payin !== null && token === tokens.get(payin.tokenContract);
    return taken && to === treasury && from === paid.from && amount === paid.amount;
  }
}

/**
 * Events of an asset contract (CAP-67): `transfer`, from, to, asset; from the issuer `mint`, to, asset. The value is the amount, or a map
 * with it if the payment had a memo or a muxed destination.
 */
function received<A extends AssetRef>(
  { topics, value }: SeenEvent,
  token: A,
  treasury: string,
): TreasuryTransfer<A> | undefined {
  const [name, first, second] = topics.map(nativeOf);
  const [from, to] = name === 'transfer' ? [first, second] : name === 'mint' ? [issuerIn(second), first] : [];
  // A payment of the treasury to itself changes nothing.
  if (typeof from !== 'string' || to !== treasury || from === treasury) return undefined;
  const amount = amountIn(value);
  return amount === undefined ? undefined : { token, from, to: treasury, memo: memoOfTransfer(value), amount };
}

/** The amount alone, or in a map. */
export function amountIn(value: xdr.ScVal): bigint | undefined {
  const amount = value.switch().name === 'scvMap' ? entryOf(value, 'amount') : value;
  const units = amount && nativeOf(amount);
  return typeof units === 'bigint' ? units : undefined;
}

const issuerIn = (asset: unknown): string | undefined =>
  typeof asset === 'string' ? asset.split(':').at(-1) : undefined;

/** Memo of a token transfer; null if it has none. */
export function memoOfTransfer(value: xdr.ScVal): string | null {
  const id = entryOf(value, 'to_muxed_id');
  return id ? memoOf(id) : null;
}

/** `("payment", sender) → { amount, destination, from, memo }` */
export function payment({ topics, value }: SeenEvent): Pick<TreasuryTransfer, 'from' | 'amount' | 'memo'> | undefined {
  const [name, sender] = topics.map(nativeOf);
  const [amount, memo] = ['amount', 'memo'].map((key) => entryOf(value, key));
  const units = amount && nativeOf(amount);
  if (name !== 'payment' || typeof sender !== 'string' || typeof units !== 'bigint' || !memo) return undefined;
  return { from: sender, amount: units, memo: memoOf(memo) };
}

function entryOf(value: xdr.ScVal, key: string): xdr.ScVal | undefined {
  if (value.switch().name !== 'scvMap') return undefined;
  return value
    .map()
    ?.find((entry) => nativeOf(entry.key()) === key)
    ?.val();
}

/** An address as an event topic, for filters. */
export const addressTopic = (address: string): string => new Address(address).toScVal().toXDR('base64');

/** Plain JavaScript value of a chain value; undefined if it cannot be parsed. */
export function nativeOf(value: xdr.ScVal): unknown {
  try {
    return scValToNative(value);
  } catch {
    return undefined;
  }
}

/** Maximum stored characters of a memo. */
const memoMax = 128;
/** Letters, digits, signs and spaces: safe in a database, a log and a terminal. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/**
 * A memo as text: an id in decimal, a text as it is. Bytes, and texts other than printable UTF-8, are hexadecimal after `0x`, truncated. So
 * everything that a payer writes can be stored and displayed, and none of it looks like a payment's memo.
 */
function memoOf(value: xdr.ScVal): string {
  switch (value.switch().name) {
    case 'scvU64':
      return value.u64().toString();
    case 'scvString':
      return textOf(Buffer.from(value.str()));
    case 'scvBytes':
      return hex(value.bytes());
    default:
      return hex(value.toXDR());
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const faithful = Buffer.from(text, 'utf8').equals(bytes);
  return faithful && text.length <= memoMax && printable.test(text) ? text : hex(bytes);
}

const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`.slice(0, memoMax);
