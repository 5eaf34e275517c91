/**
 * Checks that the log knows all recent outgoing transactions of an account. Nonces reveal it for EVM accounts at each signature; elsewhere
 * the account's own history does: Solana has no nonces, and on Stellar anyone's transaction may move money that our key has signed for.
 */
import { chainOf } from '../../../domain/chains.ts';
import { assert, isRefusal } from '../../../domain/decider.ts';
import { day_ms } from '../../../domain/time.ts';
import { reportOutflow } from '../../../domain/treasury/adopting.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { describe } from './adopt.ts';
import {
  type HistoryWindow,
  type UnknownTransaction,
  type UnknownTransactions,
  type UnknownTransactionsDeps,
  unrecordedHistory,
} from './unknownTransactions.ts';

/** Maximum age and number of transactions checked at the service's start. */
const window: HistoryWindow = { duration_ms: day_ms, transactionsMax: 100 };

/**
 * Searches for outgoing money that the log does not know, and records it in the treasury's stream: then nothing is signed until an operator
 * has adopted it. A repeated record changes nothing.
 * @returns the transactions that moved money. @throws ChainUnavailable, HistoryTooLong, Unavailable
 */
export async function compareOutflows(
  deps: UnknownTransactionsDeps,
  signal: AbortSignal,
): Promise<UnknownTransactions> {
  if (deps.history.withNonce) return { found: [], unseenBefore: null };
  const { found: all, unseenBefore } = await unrecordedHistory(deps, window, signal);
  const found = all.filter(takesMoney);
  for (const stranger of found) await record(deps, stranger);
  return { found, unseenBefore };
}

/** A fee alone does not count: a manual sweep of deposits pays one. */
const takesMoney = ({ transaction }: UnknownTransaction): boolean =>
  transaction?.succeeded === true && transaction.changes.some(({ amount }) => amount < 0n);

async function record(
  { handle, clock, rail }: UnknownTransactionsDeps,
  { account, transaction }: UnknownTransaction,
): Promise<void> {
  assert(transaction !== null, 'what a history shows is there');
  const { txHash: hash, blockNumber } = transaction;
  const { chainId } = rail;
  const detail = `transaction ${hash} on ${chainOf(chainId).name} sent ${describe(chainId, transaction)}`;
  const recorded = await handle(
    treasury,
    treasuryInstance(chainId, account),
    (state) => reportOutflow(state, { hash, blockNumber, detail, now: clock.now() }),
    { cause: 'worker:outflows', appId: null },
  );
  assert(!isRefusal(recorded), 'what was seen is never refused');
}
