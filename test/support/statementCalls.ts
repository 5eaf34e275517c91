/** Calls of the product's queries that few simulated worlds make. */

import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { clearStopped, markStopped } from '../../projections/generations.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import { cashbackAfter, dueCashback } from '../../queries/cashback.ts';
import { paidDeposits } from '../../queries/payins.ts';
import { unsettledOf, waitingPayouts } from '../../queries/transfers.ts';
import { movedHashes, openTransfersOf, owedCoin, recordedHashes, transfersToAsk } from '../../queries/treasury.ts';
import { createCursors } from '../../src/postgres/cursors.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { createHeadTree } from '../../src/postgres/headTree.ts';
import { notePayoutWait, payoutsArePaused } from '../../src/postgres/payoutWaits.ts';
import { createUnreadableNotes } from '../../src/postgres/unreadable.ts';

/** Values of simulated worlds, from which the calls draw. */
export interface Known {
  readonly chainIds: readonly ChainId[];
  readonly times: readonly Instant[];
  readonly texts: (column: string) => readonly string[];
  readonly pick: <T>(from: readonly T[]) => T;
}

/** Makes each call once. The database records the statements and returns no rows. */
export async function makeRareCalls(db: SqlDatabase, { chainIds, times, texts, pick }: Known): Promise<void> {
  const chainId = pick(chainIds);
  const token = chainOf(chainId).tokens[0];
  if (!token) throw new Error(`chain ${chainId} has no token`);
  const at = pick(times);
  const hashes = [pick(texts('payments.payout_tx_hash')), pick(texts('payins.tx_hash'))];
  const [paymentId, reference] = [pick(texts('payments.payment_id')), pick(texts('transfers.reference'))];
  const worker = pick(texts('ops.work_failures.worker'));
  const failures = createFailures(db);
  const unreadable = createUnreadableNotes(db, failures, chainId);
  const generation = { set: 'work', number: 1, schema: 'work_1', status: 'active' } as never;
  const found = { txHash: pick(hashes), blockNumber: 7n, addresses: [pick(texts('deposits.address'))], evidence: 'x' };
  const tree = createHeadTree(db);
  const leaf = { key: Buffer.alloc(32, pick([1, 2, 3])), revision: 7n, link: 'ab'.repeat(32) };

  await recordedHashes(db, { chainId, hashes, since: at });
  await transfersToAsk(db, { chainId, since: at });
  await openTransfersOf(db, { chainId, asset: token.address, amount: pick(texts('transfers.amount')) });
  await owedCoin(db, chainId, pick(['', reference]));
  await waitingPayouts(db, { worker, now: at, chainId, max: 3 });
  await unsettledOf(db, { chainId, token, but: [reference] });
  await movedHashes(db, {
    ...{ chainId, account: pick(texts('treasury_movements.account')), networksClosed: 0 },
    ...{ accounts: texts('treasury_movements.account'), after: 0n, upTo: 1_000_000_000n },
  } as never);
  await cashbackAfter(db, pick(texts('apps.app_id')), { after: pick([0, 1, 2]), max: 3 });
  await dueCashback(db, { worker, now: at, max: 3 });
  await markStopped(db, generation, 'stopped');
  await clearStopped(db, generation);
  await paidDeposits(db, chainId, {
    ...{ statuses: ['payment_completed', 'payment_expired'], after: pick(['', paymentId]), max: 5 },
    ...(pick([true, false]) && { since: at }),
  });
  await createCursors(db).scannedTo(chainId, ['head', 'final', 'finalLarge']);
  await failures.note(worker, pick(texts('ops.work_failures.key')), 'noted', at);
  await unreadable.note([found as never], at);
  await createUnreadableNotes(knowing(db, found.txHash), failures, chainId).note([found as never], at);
  await unreadable.readAgain({ from: 1n, to: 9n } as never, at);
  await notePayoutWait(db, { paymentId, chainId, reason: pick(['float', 'gas']), message: 'waits' }, at);
  await payoutsArePaused(db, chainId);
  await tree.change(null, async (change) => {
    await change.leavesIn([pick([1, 2, 3]), 7]);
    await change.put([leaf], [[pick([1, 2, 3]), { kind: pick(['leaf', 'node']), hash: Buffer.alloc(32, 5) }]] as never);
    await change.moveTo({ position: 9n, until: at, streams: 3n, events: 4n } as never);
  });
  await tree.clear();
}

/** Returns one known transaction from each statement. */
const knowing = (db: SqlDatabase, key: string): Sql => ({
  async query<R>(text: string, values?: readonly unknown[]) {
    await db.query(text, values);
    return [{ key, addresses: [] }] as R[];
  },
});
