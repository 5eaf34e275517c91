/** Sends a transaction and waits until a network has it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { rpc, Transaction } from '@stellar/stellar-sdk';

/** More than two minutes. */
const looksMax = 600;
const look_ms = 250;
/** A node forgets a transaction that no ledger took within some seconds, and refuses it for ten ledgers. */
const looksPerSending = 20;

/**
 * `TRY_AGAIN_LATER` is no refusal: the node has another transaction of the account, or forgot this one less than ten ledgers ago.
 * `landing` sends again. @throws Error when the node refuses the transaction
 */
export async function send(server: rpc.Server, transaction: Transaction): Promise<void> {
  const { status, hash, errorResult } = await server.sendTransaction(transaction);
  if (status !== 'ERROR') return;
  const reason = errorResult?.result().switch().name ?? 'without a reason';
  throw new Error(`${server.serverURL} refused transaction ${hash}: ${reason}`);
}

/**
 * Sends the same bytes again every five seconds: a validator that has just started, or has too little time, loses what its node took.
 * @param transaction with an end of its validity, which was sent
 * @returns `expired` once a ledger after the end lacks it, so that it can never land
 */
export async function landing(
  server: rpc.Server,
  transaction: Transaction,
): Promise<'SUCCESS' | 'FAILED' | 'expired' | 'unknown'> {
  const hash = transaction.hash().toString('hex');
  const until_s = Number(transaction.timeBounds?.maxTime);
  for (let looks = 1; looks <= looksMax; looks += 1) {
    const got = await server.getTransaction(hash);
    if (got.status !== 'NOT_FOUND') return got.status;
    if (Number(got.latestLedgerCloseTime) > until_s) return 'expired';
    await sleep(look_ms);
    if (looks % looksPerSending === 0) await server.sendTransaction(transaction).catch(() => {});
  }
  return 'unknown';
}
