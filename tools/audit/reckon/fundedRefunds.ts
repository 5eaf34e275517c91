/** Refunds that an app funds by a payment of its own: both payments must say the same, and the refunded one must have received that much. */
import type { Out } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';

interface Funded {
  readonly ordered: AuditEntry;
  ended: AuditEntry | null;
}

/** A payment's stream, as the refunded payment or as the one that funds a refund. */
export function createFundedRefundReckoner(out: Out): Reckoner {
  const refunds: Funded[] = [];
  const signed: AuditEntry['data'][] = [];
  const confirmed: (AuditEntry['data'] & { withdrawnBy?: string })[] = [];
  let created: AuditEntry | null = null;
  let funded: AuditEntry | null = null;
  let paid: AuditEntry | null = null;
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));

  function order(entry: AuditEntry): void {
    const { refund, receiverAddress, receiverMemo, proof, requestedAt } = entry.data;
    if (refund !== refunds.length + 1)
      find('illegalEvent', entry, `funded refund ${refund} follows ${refunds.length} refunds`);
    refunds.push({ ordered: entry, ended: null });
    if (!paid) find('illegalEvent', entry, 'only money that was paid out is refunded with new money');
    const isReceiver = (set: AuditEntry['data']) =>
      set.address === receiverAddress && (set.memo ?? null) === receiverMemo;
    const isProven =
      proof.by === 'credit'
        ? receiverAddress === proof.sender && receiverMemo === null
        : proof.by === 'signature'
          ? signed.some((set) => set.proof?.sender === proof.sender && isReceiver(set))
          : isConfirmed(confirmed, proof.sender, requestedAt, isReceiver);
    if (!isProven) find('refundElsewhere', entry, `${receiverAddress} is not proven to be an address of a payer`);
    const taken = refunds.reduce(
      (sum, { ordered, ended }) => sum + (isUnpaid(ended) ? 0n : BigInt(ordered.data.amount)),
      0n,
    );
    const { received = '0', excess = '0' } = funded?.data ?? {};
    const price = BigInt(received) - BigInt(excess);
    if (taken > price) find('refundBeyondCap', entry, `${taken} is refunded with new money, and ${price} was paid`);
  }

  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'PaymentCreated') created ??= entry;
      if (type === 'PaymentFunded') funded ??= entry;
      if (type === 'PayoutConfirmed') paid ??= entry;
      if (type === 'RefundAddressSet') signed.push(data);
      if (type === 'RefundAddressConfirmed') confirmed.push(data);
      if (type === 'RefundAddressWithdrawn') {
        const at = confirmed.findIndex(({ number }) => number === data.number);
        if (at >= 0) confirmed.splice(at, 1);
      }
      if (type === 'FundedRefundOrdered') order(entry);
      if (type === 'FundedRefundEnded') {
        const known = refunds.find(({ ordered }) => ordered.data.refund === data.refund);
        if (!known || known.ended) find('illegalEvent', entry, 'no such refund waits for its funding');
        else known.ended = entry;
      }
    },
    end() {
      if (!created) return;
      const { paymentId, appId, refundOf, destination } = created.data;
      for (const { ordered, ended } of refunds) {
        const words = wordsOf({ ...ordered.data, appId, of: paymentId });
        const key = ordered.data.fundingPaymentId;
        // A crash, or a refusal at that moment, can leave an order without its payment: it then ends unpaid.
        const own = { where: whereOf(ordered), at: ordered.at, words, isOptional: isUnpaid(ended) };
        out.paired(`refund funded ${key}`, { ...own, side: 'cause', code: 'refundUnfunded' });
        if (ended?.data.outcome === 'paid')
          out.paired(`refund paid ${key}`, {
            ...{ side: 'consequence', where: whereOf(ended), at: ended.at, words, code: 'refundUnfunded' },
          });
      }
      if (!refundOf) return;
      const words = wordsOf({ ...destination, refund: refundOf.refund, appId, of: refundOf.paymentId });
      const own = { words, code: 'refundUnfunded' } as const;
      out.paired(`refund funded ${paymentId}`, {
        ...own,
        side: 'consequence',
        where: whereOf(created),
        at: created.at,
      });
      if (paid) out.paired(`refund paid ${paymentId}`, { ...own, side: 'cause', where: whereOf(paid), at: paid.at });
    },
  };
}

/** A confirmed address counts after its delay. */
const isConfirmed = (
  confirmed: readonly AuditEntry['data'][],
  sender: string,
  requestedAt: string,
  isReceiver: (set: AuditEntry['data']) => boolean,
): boolean => confirmed.some((set) => set.sender === sender && isReceiver(set) && set.effectiveAt <= requestedAt);

const isUnpaid = (ended: AuditEntry | null): boolean => ended?.data.outcome === 'unpaid';

const whereOf = ({ stream, revision, id }: AuditEntry) => ({ stream, revision, id });

const wordsOf = ({
  of,
  refund,
  appId,
  amount,
  token,
  chainId,
  receiverAddress,
  receiverMemo,
}: AuditEntry['data']): string =>
  `refund ${refund} of payment ${of} of ${appId}: ${amount} of ${token.address} on ${chainId} to ${receiverAddress} (${receiverMemo ?? 'no memo'})`;
