/** Orders the refunds of apps' policies, once their senders have proven an address, by a signature for it or by payments by credit. */

import { type FundedRefundKey, type FundedRefundsDeps, settleFundedRefund } from '../../../commands/fundedRefunds.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { Refunds } from '../../../commands/refunds.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { provenPolicyRefunds } from '../../../domain/payment/policy.ts';
import type { Payment, Refundable } from '../../../domain/payment/state.ts';
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
  /** True if a sender has signed an address; false if they have only paid by credit. */
  readonly proven: boolean;
}

export const policyRefundsWorkerName = 'policyRefunds';

/** Retry interval of refunds that cannot be made now, such as those below their own cost. */
const again_ms = hour_ms;

/** Crash after an order: the next round finds it in the stream, and the rest. Two instances: the same key orders once. */
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
      // A payer by credit may have sent money that the policy holds, or on a chain where their contract has not signed.
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

/** A signature is checked once more, regardless of attempts without it. */
const tryOf = ({ paymentId, proven }: DuePayment): string => `${paymentId} ${proven}`;

const by = { cause: `worker:${policyRefundsWorkerName}` } as const;

/** Decisions on the same state of a payment use the same key. */
const asked = ({ refunds }: Payment, { chainId, token, amount }: Refundable) => ({
  scope: { chainId, tokenAddress: token.address, amount },
  to: 'proven' as const,
  by: 'policy' as const,
  note: null,
  key: `policy-${refunds.length}-${chainId}-${token.symbol}`,
});

// Records in refunded payments how the payments that fund their refunds have ended.

export interface FundedRefundsWorkerDeps extends Pick<FundedRefundsDeps, 'handle' | 'clock'> {
  readonly due: (max: number, now: Instant) => Promise<readonly FundedRefundKey[]>;
}

export const fundedRefundsWorkerName = 'fundedRefunds';

export function fundedRefundsWorker({ due, ...deps }: FundedRefundsWorkerDeps): Worker<FundedRefundKey> {
  return {
    name: fundedRefundsWorkerName,
    concurrency: 2,
    due,
    keyOf: ({ fundingPaymentId }) => fundingPaymentId,
    async act(item) {
      const refused = await settleFundedRefund(deps, item, { cause: `worker:${fundedRefundsWorkerName}` });
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
