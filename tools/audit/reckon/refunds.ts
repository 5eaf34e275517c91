/** What goes back of one payment, by its own events: each refund that was ordered, and what it takes of what is held. */
import type { Out } from '../claims.ts';
import type { Entry } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { createLeg, type Leg, landing, orderedOf } from './legs.ts';
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
  /** A payer said where their money goes back to. */
  setAddress(entry: Entry): void;
  order(entry: Entry): void;
  callOff(entry: Entry): void;
  /** @returns false where no such refund was ordered */
  next(kind: string, entry: Entry): boolean;
  /** What was taken of an asset, for refunds that were not called off, or landed all the same. */
  taken(key: string): bigint;
  end(): void;
}

/**
 * @param left what is held of an asset, with all refunds so far taken off
 * @param sentBy what a sender has sent of an asset
 */
export function createRefunds(
  out: Out,
  left: (key: string) => bigint,
  sentBy: (sender: string, key: string) => bigint,
): Refunds {
  const refunds = new Map<number, Refund>();
  const addresses: Entry['data'][] = [];
  const find = (code: FindingCode, entry: Entry, message: string) => out.find(findingAt(code, entry, message));
  const standing = () => [...refunds.values()].filter(({ calledOff, leg }) => !calledOff || leg.settled() !== null);
  const takenBy = (key: string, isMeant: (refund: Refund) => boolean): bigint =>
    standing().reduce(
      (sum, each) => (assetKey(each.chainId, each.asset) === key && isMeant(each) ? sum + each.taken : sum),
      0n,
    );

  /** A payer's money goes to the payer, or where the payer signed that it goes; an operator may choose any address. */
  function checkReceiver(entry: Entry): void {
    const { refund, chainId, token, amount, receiverAddress, receiverMemo, requestedBy, proof } = entry.data;
    const key = assetKey(chainId, token.address);
    const isProven = ({ sender, by }: Entry['data']): boolean =>
      by === 'credit'
        ? receiverAddress === sender && receiverMemo === null
        : addresses.some(
            (set) =>
              set.proof?.sender === sender && set.address === receiverAddress && (set.memo ?? null) === receiverMemo,
          );
    if (!proof && (requestedBy === 'operator' || requestedBy === undefined)) {
      if (sentBy(receiverAddress, key) === 0n)
        out.byWord({
          ...{ stream: entry.stream, revision: entry.revision },
          what: `refund ${refund} of ${amount} of ${token.address} to ${receiverAddress}`,
        });
      return;
    }
    if (!proof || !isProven(proof)) {
      find('refundElsewhere', entry, `${receiverAddress} is not proven to be an address of a payer`);
      return;
    }
    const theirs = takenBy(key, ({ ordered }) => ordered.data.proof?.sender === proof.sender);
    const sent = sentBy(proof.sender, key);
    if (theirs > sent) find('refundElsewhere', entry, `${theirs} goes back for ${proof.sender}, who sent ${sent}`);
  }

  return {
    setAddress: (entry) => void addresses.push(entry.data),
    order(entry) {
      const { refund, chainId, token, amount, networkFee = '0' } = entry.data;
      if (refund !== refunds.size + 1) find('illegalEvent', entry, `refund ${refund} follows ${refunds.size} refunds`);
      const [sent, taken] = [BigInt(amount), BigInt(amount) + BigInt(networkFee)];
      const leg = createLeg(orderedOf(entry.data, 'refunded'), out);
      refunds.set(refund, { ordered: entry, leg, chainId, asset: token.address, sent, taken, calledOff: false });
      const missing = -left(assetKey(chainId, token.address));
      if (missing > 0n) find('refundBeyondCap', entry, `${missing} more is to go back than is held`);
      checkReceiver(entry);
    },
    callOff(entry) {
      const refund = refunds.get(entry.data.refund);
      if (refund?.leg.mayLand())
        find('illegalEvent', entry, 'the refund has landed, or can still: it cannot be called off');
      if (refund) refund.calledOff = true;
    },
    next(kind, entry) {
      const refund = refunds.get(entry.data.refund);
      if (refund?.calledOff && landing.has(kind)) find('illegalEvent', entry, 'the refund was called off before');
      refund?.leg.next(kind, entry);
      return refund !== undefined;
    },
    taken: (key) => takenBy(key, () => true),
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
