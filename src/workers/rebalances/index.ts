/** Rebalances that wait for an attestation or for their mint. Off without CCTP_ATTESTATIONS_URL. */
import type { ChainId } from '../../../domain/chains.ts';
import { rebalancesInTransit } from '../../../queries/floats.ts';
import { createAttestations } from '../../chains/attestations.ts';
import type { Core } from '../../core.ts';
import type { RoleWorker } from '../run.ts';
import { attend } from './attend.ts';

/** Each takes one call of the attestation service, which allows 35 a second. */
const idle_ms = 5_000;

export function rebalanceWorkers({ config, workHandle: handle, clock, chains, database }: Core): readonly RoleWorker[] {
  if (config.attestationsUrl === null) return [];
  const attestations = createAttestations({ url: config.attestationsUrl, clock });
  const mintsOn = (chainId: ChainId) => chains.get(chainId)?.mints;
  const worker = {
    name: 'rebalances',
    concurrency: 2,
    due: async (max: number) => (await rebalancesInTransit(database, max)).map((id) => ({ id })),
    keyOf: ({ id }: { readonly id: string }) => id,
    async act({ id }: { readonly id: string }, signal: AbortSignal) {
      await attend({ handle, clock, attestations, mintsOn }, id, signal);
    },
  };
  return [{ worker, idle_ms }];
}
