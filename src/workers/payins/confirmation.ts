/** Decides whether a final pass confirms a transfer: enough nodes prove it, and the sum in shallow blocks stays within its limit. */

import type { Ingester, Pass, TransferLog } from '../../../commands/chainPorts.ts';
import type { Clock } from '../../../commands/ports.ts';
import { convert, usDollar, usMillionth } from '../../../domain/money.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/cache.ts';

export interface ConfirmationGateDeps {
  readonly ingester: Pick<Ingester, 'agreed' | 'exposureMax_usd'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Confirmed amounts, in micro-USD, in blocks that the deepest pass has not reached, as the read models know them. */
  readonly unfinalised: () => Promise<bigint>;
  readonly alarm: (reason: string, facts: Readonly<Record<string, string>>, message: string) => void;
}

/** Remaining budget for one range of blocks. */
export interface ExposureBudget {
  /** Deducts the transfer's amount from the budget. @returns false, and deducts nothing, if the rest is too small */
  take(transfer: Pick<TransferLog, 'token' | 'amount'>): boolean;
}

export interface ConfirmationGate {
  /** False until the pause of a transfer that was not confirmed is over. */
  isDue(transferId: string): boolean;
  /** Starts a pause for the transfer, from 2 s up to 60 s, longer each time. */
  postpone(transferId: string): void;
  /** Reads the budget of a pass. Call it once the read models have caught up with the recorded payins. */
  budget(pass: Pass): Promise<ExposureBudget>;
  /** Returns true if enough nodes prove the transfer final; otherwise starts its pause. */
  isProven(
    transfer: Transfer,
    about: { readonly pass: Pass; readonly agreed_usd: bigint | null },
    signal: AbortSignal,
  ): Promise<boolean>;
}

const firstPause_ms = 2_000;
const pauseMax_ms = minute_ms;
/** Delay of the alarm, because lagging nodes are normal. */
const toldAfter_ms = 10_000;
const toldAgain_ms = 10 * minute_ms;

export function createConfirmationGate({
  ingester,
  clock,
  unfinalised,
  alarm,
}: ConfirmationGateDeps): ConfirmationGate {
  const firstAt = boundedTimes();
  const dueAt = boundedTimes();
  const toldAt = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  function postpone(id: string): void {
    const first_ms = firstAt.get(id) ?? now_ms();
    firstAt.set(id, first_ms);
    const waited_ms = now_ms() - first_ms;
    dueAt.set(id, now_ms() + Math.min(Math.max(waited_ms, firstPause_ms), pauseMax_ms));
  }

  function tell(key: string, reason: string, facts: Readonly<Record<string, string>>, message: string): void {
    if (now_ms() - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < toldAgain_ms) return;
    toldAt.set(key, now_ms());
    alarm(reason, facts, message);
  }

  async function budget(pass: Pass): Promise<ExposureBudget> {
    const { exposureMax_usd } = ingester;
    if (pass !== 'final' || exposureMax_usd === null) return { take: () => true };
    let taken: bigint = await unfinalised();
    const most = convert(exposureMax_usd, usDollar, usMillionth);
    return {
      take({ token, amount }) {
        const cost = convert(amount, token, usMillionth);
        if (taken + cost <= most) {
          taken += cost;
          return true;
        }
        const message = `${exposureMax_usd} USD wait for the deepest finality: what comes beyond waits with them`;
        tell('exposure', 'exposureCapped', {}, message);
        return false;
      },
    };
  }

  return {
    isDue: (id) => (dueAt.get(id) ?? 0) <= now_ms(),
    postpone,
    budget,
    async isProven(transfer, { pass, agreed_usd }, signal) {
      const { txHash, amount, token } = transfer;
      const id = transferId(transfer);
      const own_usd = convert(BigInt(amount), token, usDollar);
      const usd = agreed_usd !== null && agreed_usd > own_usd ? agreed_usd : own_usd;
      const { agreed, dispute } = await ingester.agreed(transfer, { pass, usd }, signal);
      const waits_ms = now_ms() - (firstAt.get(id) ?? now_ms());
      if (dispute && (dispute.reason === 'nodesDisagree' || waits_ms >= toldAfter_ms))
        tell(`${id} ${dispute.reason}`, dispute.reason, { txHash }, dispute.message);
      if (!agreed) postpone(id);
      return agreed;
    },
  };
}
