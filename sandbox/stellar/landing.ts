/** Waits until a network has a transaction that a node took. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { rpc, Transaction } from '@stellar/stellar-sdk';

/** More than two minutes. */
const looksMax = 600;
const look_ms = 250;
/** A node forgets a transaction that no ledger took within some seconds, and refuses it for ten ledgers. */
const looksPerSending = 20;

/**
 * Sends the same bytes again every five seconds: a validator that has just started, or has too little time, loses what its node took.
 * @param transaction with an end of its validity, which a node took
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
