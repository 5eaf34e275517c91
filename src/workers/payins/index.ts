/** Payins of a chain: dependencies of its live scan, partly shared with a rescan. */

import { filter, type Observable, Subject } from 'rxjs';
import type { Ingester, Unreadable } from '../../../commands/chainPorts.ts';
import { recordUnmatched } from '../../../commands/recordPayin.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { payinAddress } from '../../../domain/payment/payins.ts';
import { day_ms, hour_ms, minute_ms, plus } from '../../../domain/time.ts';
import { projectedChannel } from '../../../projections/commit.ts';
import {
  expectedOfChain,
  firstToWatch,
  isChainAwaited,
  matchDeposits,
  payinsAbove,
  payinsInBlocks,
  pendingPayins,
  unfinalised,
} from '../../../queries/payins.ts';
import type { OpenChain } from '../../chains/family.ts';
import type { Core } from '../../core.ts';
import { throttle } from '../../lib/cache.ts';
import { createCursors } from '../../postgres/cursors.ts';
import { createFailures, type WorkFailures } from '../../postgres/failures.ts';
import { createUnreadableNotes, type UnreadBlocks } from '../../postgres/unreadable.ts';
import type { RoleWorker } from '../run.ts';
import { createConfirmationGate } from './confirmation.ts';
import { type HeadWatch, watchHeads } from './headWatch.ts';
import { parkedPayinKey, parkedPayinsName, parkedPayinsWorker } from './lookUp.ts';
import { payinsWorker, restsOf } from './payins.ts';
import { createPushed } from './pushed.ts';
import type { RangeDeps } from './range.ts';
import { unexplainedName, unexplainedWorker, unreadablePace, unreadableWorker } from './unreadable.ts';

// Unreadable transactions of a chain: recorded, reported, and retried slowly.

/** Interval of reports during a flood; `npm run unmatched -- unreadable` lists all of them. */
const told_ms = minute_ms;

export function setsUnreadableAside(
  { clock, database, telemetry }: Pick<Core, 'clock' | 'database' | 'telemetry'>,
  failures: WorkFailures,
  chainId: ChainId,
): RangeDeps['setUnreadableAside'] {
  const notes = createUnreadableNotes(database, failures, chainId);
  const sameChain = () => String(chainId);
  const tell = throttle(told_ms, clock, sameChain, ({ txHash, evidence }: Unreadable) =>
    telemetry.alarm(
      'transactionUnreadable',
      { chainId, txHash, evidence },
      'a transaction that may have paid us is unreadable: it is retried automatically',
    ),
  );
  const tellBeyond = throttle(told_ms, clock, sameChain, ({ from, to }: UnreadBlocks) =>
    telemetry.alarm(
      'transactionUnreadable',
      { chainId, from: String(from), to: String(to) },
      'too many unreadable transactions to keep: fix the cause, then read these blocks again (npm run rescan)',
    ),
  );
  return async (found) => {
    const { fresh, beyond } = await notes.note(found, clock.now());
    for (const each of fresh) tell(each);
    if (beyond) tellBeyond(beyond);
  };
}

/** Its failures have a separate pace. */
export function unreadable({ database }: Pick<Core, 'database'>, range: RangeDeps): RoleWorker {
  const failures = createFailures(database, unreadablePace);
  const notes = createUnreadableNotes(database, failures, range.ingester.chainId);
  return {
    worker: unreadableWorker({ ...range, due: notes.due }),
    failures,
  };
}

/** A chain's clock may be behind ours: a payment's block can be dated before the payment's creation. */
const clockDifference_ms = 10 * minute_ms;
const projectedWait_ms = 30_000;
/** Time for which a payin of an orphaned block is still searched: a node may have been on a separate branch. */
const leftFor_ms = 24 * hour_ms;

/** Interval of alarms during a flood. */
const flooded_ms = 10 * minute_ms;

export function payinRange(core: Core, failures: WorkFailures, ingester: Ingester): RangeDeps {
  const { workHandle, clock, database, caughtUp, telemetry } = core;
  const { chainId, largeFrom } = ingester;
  return {
    handle: workHandle,
    clock,
    ingester,
    caughtUp: (signal) => caughtUp({ signal, timeout_ms: projectedWait_ms }),
    matchDeposits: (places) => matchDeposits(database, places),
    async unmatched(transfer) {
      const { txHash, to, memo } = transfer;
      const isNew = await recordUnmatched({ handle: workHandle, clock }, transfer);
      if (isNew)
        telemetry.alarm(
          'payinUnmatched',
          { chainId, txHash, to, memo },
          'money arrived without the memo of a payment: assign or refund it (npm run unmatched)',
        );
      return isNew;
    },
    payinsInBlocks: (hashes) => payinsInBlocks(database, chainId, hashes, largeFrom),
    payinsAbove: (above, after, max) => payinsAbove(database, { chainId, above, largeFrom_usd: largeFrom }, after, max),
    confirmationGate: createConfirmationGate({
      ingester,
      clock,
      unfinalised: () => unfinalised(database, chainId),
      alarm: (reason, facts, message) => telemetry.alarm(reason, { chainId, ...facts }, message),
    }),
    lost: ({ paymentId, txHash }) =>
      telemetry.alarm(
        'payinLost',
        { chainId, paymentId, txHash },
        'money that funded a payment was reorganised out of its chain',
      ),
    beyond: throttle(
      flooded_ms,
      clock,
      ({ paymentId }) => paymentId,
      ({ paymentId }) =>
        telemetry.alarm(
          'payinBeyond',
          { chainId, paymentId },
          'a payment has recorded its maximum of transfers: further money is unmatched',
        ),
    ),
    async park(payment, txHash, error) {
      const paymentId = payment?.paymentId ?? null;
      const message = 'a transfer could not be recorded in its payment: it is retried';
      telemetry.alarm('payinParked', { chainId, paymentId, txHash }, message);
      await failures.failed(parkedPayinsName(chainId), parkedPayinKey(paymentId, txHash), error, clock.now());
    },
    setAside: (address) =>
      failures.note(unexplainedName(chainId), address, 'the balance of the deposit is not explained yet', clock.now()),
    stray: throttle(
      day_ms,
      clock,
      ({ account }) => account,
      ({ owner: address, account, token, amount }) =>
        telemetry.alarm(
          'depositStray',
          { chainId, address, account, token, amount: String(amount) },
          'a deposit holds tokens outside of the catalogue',
        ),
    ),
    setUnreadableAside: setsUnreadableAside(core, failures, chainId),
  };
}

/**
 * Scan of a chain, woken by its head, and the transfers that it set aside.
 * @param changes of the work read models
 */
export function payinWorkers(
  core: Core,
  failures: WorkFailures,
  { ingester, poll_ms, pushes }: OpenChain,
  changes: Changes,
): readonly RoleWorker[] {
  const { clock, crash, database, telemetry } = core;
  const { chainId, nodeHeads } = ingester;
  const cursors = createCursors(database);
  const oursAmong = async (accounts: readonly string[]) => {
    const places = accounts.map((account) => payinAddress(account, null));
    const own = new Set((await matchDeposits(database, places)).map(({ address }) => address));
    return accounts.filter((_, at) => own.has(places[at]?.address ?? ''));
  };
  const pushed =
    pushes &&
    createPushed({
      pushes,
      clock,
      block_ms: chainOf(chainId).block_ms,
      isAwaited: () => heads.isAwaited(),
      oursAmong,
      lookFirst: ingester.lookFirst,
      count: (to, transfers) => telemetry.countPushed(chainId, to, transfers),
    });
  const heads: HeadWatch = watchHeads({
    pushed,
    nodeHeads,
    clock,
    poll_ms,
    isAwaited: () => isChainAwaited(database, chainId),
    changes: changes.count,
    changed: changes.seen,
  });
  const range = payinRange(core, failures, ingester);
  const leftAfter = () => plus(clock.now(), -leftFor_ms);
  const scan = payinsWorker({
    ...range,
    crash,
    moves: heads.moves,
    rest_ms: restsOf(poll_ms),
    changes: changes.count,
    expected: (after) => expectedOfChain(database, { chainId, after, leftAfter: leftAfter() }),
    pendingPayins: (upTo, largeFrom_usd) =>
      pendingPayins(database, { chainId, upTo, largeFrom_usd, leftAfter: leftAfter() }),
    loadCursor: (pass) => cursors.load(chainId, pass),
    saveCursor: (next, previous) => cursors.save(next, previous),
    endPassed: cursors.tellEndPassed,
    missed: ({ from, to }) =>
      telemetry.alarm(
        'ledgersMissed',
        { chainId, from: String(from), to: String(to) },
        'no node has these ledgers any more: payins in them are not detected. Name a node with a longer history, then run npm run rescan',
      ),
    startFrom: async () => plus((await firstToWatch(database)) ?? clock.now(), -clockDifference_ms),
  });
  const parked = parkedPayinsWorker({
    ...range,
    due: (max, now) => failures.due(parkedPayinsName(chainId), max, now),
  });
  return [
    { worker: scan, wake: heads.moved },
    { worker: parked },
    ...unexplained(core, failures, ingester).map((worker) => ({ worker })),
    unreadable(core, range),
  ];
}

function unexplained(core: Core, failures: WorkFailures, ingester: Ingester): readonly RoleWorker['worker'][] {
  const { chainId, readDeposit } = ingester;
  if (!readDeposit) return [];
  const worker = unexplainedWorker({
    ...payinRange(core, failures, ingester),
    ingester: { ...ingester, readDeposit },
    due: (max, now) => failures.due(unexplainedName(chainId), max, now),
    alarm: (address) =>
      core.telemetry.alarm(
        'depositUnexplained',
        { chainId, address },
        'a deposit’s balance differs from its history: it is read again automatically',
      ),
  });
  return [worker];
}

/** Changes of the work read models. */
export interface Changes {
  /** Number of changes so far. */
  count(): number;
  readonly seen: Observable<unknown>;
}

/** A new listener has missed notifications, which counts as a change too. */
export function followChanges({ notifications }: Pick<Core, 'notifications'>, signal: AbortSignal): Changes {
  let count = 0;
  const seen = new Subject<void>();
  const following = notifications
    .pipe(filter(({ channel, payload }) => channel === projectedChannel && !payload.startsWith('reports ')))
    .subscribe(() => {
      count += 1;
      seen.next();
    });
  signal.addEventListener('abort', () => following.unsubscribe(), { once: true });
  return { count: () => count, seen };
}
