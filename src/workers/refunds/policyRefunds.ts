/** Orders back what apps' policies say goes back, once its senders have proven where to, by a signature for it or by payments out of credit. */

import type { Clock } from '../../../commands/ports.ts';
import type { Refunds } from '../../../commands/refunds.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { provenPolicyRefunds } from '../../../domain/payment/policy.ts';
import type { Refundable } from '../../../domain/payment/refund.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { epochMs, hour_ms, type Instant } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';

export interface PolicyRefundsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly refunds: Pick<Refunds, 'order' | 'payment' | 'signers'>;
  readonly due: (max: number, now: Instant) => Promise<readonly DuePayment[]>;
}

interface DuePayment {
  readonly paymentId: string;
  /** Whether a sender has signed where it goes to, or has only paid out of credit. */
  readonly proven: boolean;
}

export const policyRefundsWorkerName = 'policyRefunds';

/** What cannot go back now, such as less than sending it costs, is tried again so often. */
const again_ms = hour_ms;

/** Crash after an order: the next look finds it in the stream, and what is left. Two instances: the same key orders once. */
export function policyRefundsWorker({ clock, refunds, due }: PolicyRefundsDeps): Worker<DuePayment> {
  const triedAt = boundedTimes();
  const isLeft = (item: DuePayment, now_ms: number) => (triedAt.get(tryOf(item)) ?? 0) > now_ms;
  return {
    name: policyRefundsWorkerName,
    concurrency: 2,
    async due(max, now) {
      const now_ms = epochMs(now);
      const items = await due(max + triedAt.countAfter(now_ms), now);
      return items.filter((item) => !isLeft(item, now_ms)).slice(0, max);
    },
    keyOf: ({ paymentId }) => paymentId,
    async act(item) {
      const { paymentId } = item;
      const leave = () => triedAt.set(tryOf(item), epochMs(clock.now()) + again_ms);
      const payment = await refunds.payment({ paymentId, appId: null });
      const proven = payment ? provenPolicyRefunds(payment, await refunds.signers(payment)) : [];
      // Who has paid out of credit may have sent what the policy keeps, or on a chain where his contract has not signed.
      if (proven.length === 0) leave();
      for (const entry of proven) {
        const ordered = payment && (await refunds.order({ paymentId, appId: null }, asked(payment, entry), by));
        if (!isRefusal(ordered)) continue;
        if (ordered.refused === 'unavailable') throw new Error(ordered.message);
        leave();
      }
    },
  };
}

/** A signature is looked at once more, whatever was tried without it. */
const tryOf = ({ paymentId, proven }: DuePayment): string => `${paymentId} ${proven}`;

const by = { cause: `worker:${policyRefundsWorkerName}` } as const;

/** Whoever decides on the same payment as it stands names the order alike. */
const asked = ({ refunds }: Payment, { chainId, token, amount }: Refundable) => ({
  scope: { chainId, tokenAddress: token.address, amount },
  to: 'proven' as const,
  by: 'policy' as const,
  note: null,
  key: `policy-${refunds.length}-${chainId}-${token.symbol}`,
});
