import { Unavailable } from '../ports.ts';
import type { PayoutRail } from './ports.ts';

const answer_ms = 15_000;

/**
 * Where the history of an account begins: its next nonce, not on one node's word; 0 on a chain without nonces.
 * @throws Unavailable while nodes do not agree
 */
export async function firstNonceOf(
  rail: Pick<PayoutRail, 'chainId' | 'account' | 'provenNonce' | 'minedNonce'>,
): Promise<bigint> {
  if (!rail.provenNonce) return (await rail.minedNonce(AbortSignal.timeout(answer_ms))) ?? 0n;
  const proven = await rail.provenNonce();
  if (proven === null)
    throw new Unavailable(`the nodes of chain ${rail.chainId} do not agree on the next nonce of ${rail.account}`);
  return proven;
}
