/** What is checked before anything is signed: a transfer that cannot be made is better refused here than failed on the chain. */
import type { ChainNode } from '../../node/jsonRpc.ts';
import { RpcFailed } from '../../node/jsonRpc.ts';
import { PayoutBlocked } from '../../ports.ts';
import { signature_bytes } from '../addresses.ts';
import { walletRent } from '../config.ts';
import { type AsOf, landed, malformed, objectOf, type RawAccount, signaturesOf } from '../reads.ts';
import { tokenAccountIn } from '../tokenProgram.ts';
import { wireOf } from './transaction.ts';

/** What a token account can pay, in smallest units. */
export function spendableIn(account: RawAccount | null | undefined): bigint {
  const held = tokenAccountIn(account);
  return held?.usable ? held.amount : 0n;
}

/** Lamports above what a wallet must keep. */
export const spendableLamports = (wallet: RawAccount | null | undefined): bigint =>
  wallet && wallet.lamports > walletRent ? wallet.lamports - walletRent : 0n;

/**
 * Runs a message without sending it.
 * @param signers how many sign it
 * @returns the compute units that it used
 * @throws PayoutBlocked when it would fail
 */
export async function rehearse(
  node: ChainNode,
  message: Uint8Array,
  signers: number,
  { commitment, minContextSlot }: AsOf,
): Promise<number> {
  const method = 'simulateTransaction';
  const unsigned = wireOf(message, new Array<Uint8Array>(signers).fill(new Uint8Array(signature_bytes)));
  const config = {
    encoding: 'base64',
    sigVerify: false,
    commitment,
    ...(minContextSlot !== undefined && { minContextSlot: Number(minContextSlot) }),
  };
  const answer = objectOf(node, method, await node.request(method, [unsigned, config]));
  const { err, logs, unitsConsumed } = objectOf(node, method, answer['value']);
  // Behind one address there may be several nodes, and this one does not know the block yet.
  if (err === 'BlockhashNotFound') throw new RpcFailed(node.name, method, 'refused', 'it lags behind its blockhash');
  if (err !== null && err !== undefined) {
    const said = Array.isArray(logs) ? logs.findLast((line) => String(line).includes('Error:')) : undefined;
    const why = String(said ?? JSON.stringify(err)).slice(0, 200);
    throw new PayoutBlocked('refusedByToken', `the transfer would fail: ${why}`);
  }
  if (!Number.isSafeInteger(unitsConsumed)) throw malformed(node, method, 'unitsConsumed');
  return Number(unitsConsumed);
}

/** Of transactions that name a reference; its maker can name it as often as they like, but it is their own payout that then waits. */
const namedMax = 100;

/**
 * Without nonces nothing else tells that a log is an old copy, which would pay again what was paid since.
 * @throws PayoutBlocked when a transaction of the treasury with the same reference has landed, or there are too many to tell
 */
export async function checkUnpaid(node: ChainNode, treasury: string, reference: string): Promise<void> {
  const asOf: AsOf = { commitment: 'confirmed' };
  const named = await signaturesOf(node, reference, { until: null, before: null }, asOf);
  const succeeded = named.filter(({ failed }) => !failed);
  if (succeeded.length > namedMax) throw behindChain(`${succeeded.length} transactions`, reference);
  for (const { signature } of succeeded) {
    const found = await landed(node, signature, asOf.commitment);
    if (found === null || found.feePayer === treasury) throw behindChain(`transaction ${signature}`, reference);
  }
}

const behindChain = (what: string, reference: string): PayoutBlocked =>
  new PayoutBlocked(
    'treasuryBehindChain',
    `${what} on Solana bear the payout’s reference ${reference}, and the log knows of none that landed: it is an old copy or the key was used elsewhere; sign nothing until an operator has looked at them`,
  );
