/** Reads events as money that reached the treasury, and says whom it is for. */
import { Address, type xdr } from '@stellar/stellar-sdk';
import { memoOf, nativeOf } from './values.ts';

/** A contract's event, wherever it was read. */
export interface SeenEvent {
  readonly contract: string;
  readonly topics: readonly xdr.ScVal[];
  readonly value: xdr.ScVal;
}

/** USDC that reached the treasury. */
export interface Movement {
  /** The account or contract that it came from. */
  readonly from: string;
  /** The treasury, or the payin contract when the payer called that. */
  readonly to: string;
  readonly memo: string | null;
  readonly amount: bigint;
}

export interface Watched {
  readonly treasury: string;
  /** The asset contract of USDC. */
  readonly token: string;
  readonly payin: string | null;
}

/**
 * What one operation moved to the treasury, in the order of its events. Only the token's own events move money; an event of the payin
 * contract says whom the transfer before it was for, if it has that sender and amount, and nothing else. So a call of `pay` is one
 * movement although it makes two events.
 *
 * @param events of a successful transaction's operation, in their order
 */
export function movementsOf({ treasury, token, payin }: Watched, events: readonly SeenEvent[]): readonly Movement[] {
  const moved: Movement[] = [];
  for (const event of events) {
    if (event.contract === token) {
      const movement = received(event, treasury);
      if (movement) moved.push(movement);
    } else if (event.contract === payin) {
      const paid = payment(event);
      const at = paid ? moved.findLastIndex((m) => isMeant(m, paid, treasury)) : -1;
      const movement = moved[at];
      if (paid && movement) moved[at] = { ...movement, to: payin, memo: paid.memo };
    }
  }
  return moved.filter(({ amount }) => amount > 0n);
}

const isMeant = (movement: Movement, paid: Pick<Movement, 'from' | 'amount'>, treasury: string): boolean =>
  movement.to === treasury && movement.from === paid.from && movement.amount === paid.amount;

/**
 * Events of an asset contract (CAP-67): `transfer`, from, to, asset; from the issuer `mint`, to, asset. The amount comes alone or, where
 * the payment had a memo or a muxed destination, with it.
 */
function received({ topics, value }: SeenEvent, treasury: string): Movement | undefined {
  const [name, first, second] = topics.map(nativeOf);
  const [from, to] = name === 'transfer' ? [first, second] : name === 'mint' ? [issuerIn(second), first] : [];
  if (typeof from !== 'string' || to !== treasury) return undefined;
  const data = nativeOf(value);
  if (typeof data === 'bigint') return { from, to: treasury, memo: null, amount: data };
  const amount = entryOf(value, 'amount');
  const units = amount && nativeOf(amount);
  const id = entryOf(value, 'to_muxed_id');
  if (typeof units !== 'bigint') return undefined;
  return { from, to: treasury, memo: id ? memoOf(id) : null, amount: units };
}

const issuerIn = (asset: unknown): string | undefined =>
  typeof asset === 'string' ? asset.split(':').at(-1) : undefined;

/** `("payment", sender) → { amount, destination, from, memo }` */
function payment({ topics, value }: SeenEvent): Pick<Movement, 'from' | 'amount' | 'memo'> | undefined {
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

/** For filters: an address as event topics have it. */
export const addressTopic = (address: string): string => new Address(address).toScVal().toXDR('base64');
