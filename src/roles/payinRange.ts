/** What the live scan of a chain and a rescan of it stand on. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { recordUnmatched } from '../../commands/matchUnmatched.ts';
import { matchDeposits } from '../../queries/deposits.ts';
import { payinsInBlocks } from '../../queries/payins.ts';
import type { WorkFailures } from '../postgres/failures.ts';
import { parkedPayinKey, parkedPayinsName } from '../subscribers/parkedPayins.ts';
import type { RangeDeps } from '../subscribers/payinRange.ts';
import type { Core } from './core.ts';

const projectedWait_ms = 30_000;

export function payinRange(
  { workHandle, clock, store, database, projected, telemetry }: Core,
  failures: WorkFailures,
  ingester: Ingester,
): RangeDeps {
  const { chainId, largeFrom } = ingester;
  return {
    handle: workHandle,
    clock,
    store,
    ingester,
    projected: (position, signal) => projected(position, { signal, timeout_ms: projectedWait_ms }),
    matchDeposits: (places) => matchDeposits(database, places),
    async unmatched(transfer) {
      const { txHash, to, memo } = transfer;
      const isNew = await recordUnmatched({ handle: workHandle, clock }, transfer);
      if (isNew)
        telemetry.alarm('payinUnmatched', { chainId, txHash, to, memo }, 'money came whose memo is no payment’s');
      return isNew;
    },
    payinsInBlocks: (hashes) => payinsInBlocks(database, chainId, hashes, largeFrom),
    async park({ paymentId }, txHash, error) {
      telemetry.alarm(
        'payinParked',
        { chainId, paymentId, txHash },
        'a payment could not take a transfer: it is set aside and tried again',
      );
      await failures.failed(parkedPayinsName(chainId), parkedPayinKey(paymentId, txHash), error, clock.now());
    },
  };
}
