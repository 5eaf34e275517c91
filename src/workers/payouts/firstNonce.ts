import { Unavailable } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';

const answer_ms = 15_000;

/** What tells of a treasury's account where its history begins. */
export type OpeningRail = Pick<PayoutRail, 'chainId' | 'account' | 'provenNonce' | 'minedNonce'>;

/**
 * Where the history of an account begins: its next nonce, not on one node's word; 0 on a chain without nonces.
 * @throws Unavailable while nodes do not agree
 */
export async function firstNonceOf(rail: OpeningRail): Promise<bigint> {
  if (!rail.provenNonce) return (await rail.minedNonce(AbortSignal.timeout(answer_ms))) ?? 0n;
  const proven = await rail.provenNonce();
  if (proven === null)
    throw new Unavailable(`the nodes of chain ${rail.chainId} do not agree on the next nonce of ${rail.account}`);
  return proven;
}
