/**
 * What transfers that are signed and not settled take of a treasury without nonces. The read models know them, a moment late; those that
 * this process has signed lately are counted from memory.
 */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';

export interface Underway {
  /** In smallest units. @param but a transfer that is not counted, by its reference */
  of(token: AssetRef, but: string): Promise<bigint>;
  signed(reference: string, token: AssetRef, amount: bigint): void;
  /** It is settled or dead. */
  ended(reference: string): void;
}

/** Read models are never so late while to-do lists, which are among them, name transfers to sign. */
const remembered_ms = 10 * minute_ms;

/** @param recorded what transfers other than the named ones take, as the read models have it */
export function createUnderway(
  recorded: (token: AssetRef, but: readonly string[]) => Promise<bigint>,
  clock: Pick<Clock, 'now'>,
): Underway {
  const lately = new Map<string, { readonly token: string; readonly amount: bigint; readonly at_ms: number }>();

  return {
    async of(token, but) {
      const oldest_ms = epochMs(clock.now()) - remembered_ms;
      for (const [reference, { at_ms }] of lately) if (at_ms < oldest_ms) lately.delete(reference);
      let sum = await recorded(token, [but, ...lately.keys()]);
      for (const [reference, each] of lately) if (reference !== but && each.token === token.address) sum += each.amount;
      return sum;
    },
    signed: (reference, { address }, amount) =>
      void lately.set(reference, { token: address, amount, at_ms: epochMs(clock.now()) }),
    ended: (reference) => void lately.delete(reference),
  };
}
