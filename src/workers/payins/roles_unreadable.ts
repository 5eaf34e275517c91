/** Transactions of a chain that cannot be read: kept, told of, and tried again slowly. */
import type { Unreadable } from '../../../commands/chainPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { minute_ms } from '../../../domain/time.ts';
import type { Core } from '../../core.ts';
import { once } from '../../lib/throttle.ts';
import { createFailures, type WorkFailures } from '../../postgres/failures.ts';
import { createUnreadableNotes, type UnreadBlocks } from '../../postgres/unreadable.ts';
import type { RoleWorker } from '../run.ts';
import type { RangeDeps } from './range.ts';
import { unreadablePace, unreadableWorker } from './unreadable.ts';

/** A flood is told of so often; `npm run unmatched -- unreadable` lists what came meanwhile. */
const told_ms = minute_ms;

export function setsUnreadableAside(
  { clock, database, telemetry }: Pick<Core, 'clock' | 'database' | 'telemetry'>,
  failures: WorkFailures,
  chainId: ChainId,
): RangeDeps['setUnreadableAside'] {
  const notes = createUnreadableNotes(database, failures, chainId);
  const sameChain = () => String(chainId);
  const tell = once(told_ms, clock, sameChain, ({ txHash, evidence }: Unreadable) =>
    telemetry.alarm(
      'transactionUnreadable',
      { chainId, txHash, evidence },
      'a transaction that may have paid us cannot be read: it is set aside and tried again by itself',
    ),
  );
  const tellBeyond = once(told_ms, clock, sameChain, ({ from, to }: UnreadBlocks) =>
    telemetry.alarm(
      'transactionUnreadable',
      { chainId, from: String(from), to: String(to) },
      'more transactions cannot be read than are kept: have these blocks read again once their cause is mended (npm run rescan)',
    ),
  );
  return async (found) => {
    const { fresh, beyond } = await notes.note(found, clock.now());
    for (const each of fresh) tell(each);
    if (beyond) tellBeyond(beyond);
  };
}

/** Its failures have a pace of their own. */
export function unreadable({ database }: Pick<Core, 'database'>, range: RangeDeps): RoleWorker {
  const failures = createFailures(database, unreadablePace);
  const notes = createUnreadableNotes(database, failures, range.ingester.chainId);
  return {
    worker: unreadableWorker({ ...range, due: notes.due }),
    failures,
  };
}
