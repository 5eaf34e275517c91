/** What goes back of one payment, by its own events: each refund that was ordered, and what it takes of what is held. */
import type { Out } from '../claims.ts';
import type { Entry } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { createLeg, type Leg, orderedOf } from './legs.ts';
import { assetKey } from './payins.ts';

interface Refund {
  readonly ordered: Entry;
  readonly leg: Leg;
  readonly chainId: number;
  readonly asset: string;
  readonly sent: bigint;
  /** With what sending it costs. */
  readonly taken: bigint;
  calledOff: boolean;
}

export interface Refunds {
  order(entry: Entry): void;
  callOff(entry: Entry): void;
  /** @returns false where no such refund was ordered */
  next(kind: string, entry: Entry): boolean;
  /** What was taken of an asset, for refunds that were not called off. */
  taken(key: string): bigint;
  end(): void;
}

/** @param left what is held of an asset, with all refunds so far taken off */
export function createRefunds(out: Out, left: (key: string) => bigint): Refunds {
  const refunds = new Map<number, Refund>();
  const find = (code: FindingCode, entry: Entry, message: string) => out.find(findingAt(code, entry, message));
  const standing = () => [...refunds.values()].filter(({ calledOff }) => !calledOff);
  return {
    order(entry) {
      const { refund, chainId, token, amount, networkFee = '0' } = entry.data;
      if (refund !== refunds.size + 1) find('illegalEvent', entry, `refund ${refund} follows ${refunds.size} refunds`);
      const [sent, taken] = [BigInt(amount), BigInt(amount) + BigInt(networkFee)];
      const leg = createLeg(orderedOf(entry.data), out);
      refunds.set(refund, { ordered: entry, leg, chainId, asset: token.address, sent, taken, calledOff: false });
      const missing = -left(assetKey(chainId, token.address));
      if (missing > 0n) find('refundBeyondCap', entry, `${missing} more is to go back than is held`);
    },
    callOff(entry) {
      const refund = refunds.get(entry.data.refund);
      if (refund?.leg.settled()) find('illegalEvent', entry, 'the refund has landed: it cannot be called off');
      if (refund) refund.calledOff = true;
    },
    next(kind, entry) {
      const refund = refunds.get(entry.data.refund);
      refund?.leg.next(kind, entry);
      return refund !== undefined;
    },
    taken: (key) =>
      standing().reduce((sum, { chainId, asset, taken }) => (assetKey(chainId, asset) === key ? sum + taken : sum), 0n),
    end() {
      for (const { leg } of refunds.values()) leg.end();
      for (const { leg, ordered } of standing())
        if (leg.settled() === null)
          out.unsettled({
            chainId: ordered.data.chainId,
            stream: ordered.stream,
            position: leg.signedAt() ?? ordered.position,
            what: `refund ${ordered.data.refund} is not settled`,
          });
      for (const { chainId, asset, sent, taken } of standing()) {
        out.sum(chainId, asset, 'refunded', sent);
        out.sum(chainId, asset, 'networkFees', taken - sent);
      }
    },
  };
}
