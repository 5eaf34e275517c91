/** The health of all chains: looked at by one instance, told to operators. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { OpenChain } from '../chains/family.ts';
import { identityOf, rememberIdentity } from '../postgres/chainIdentities.ts';
import { createCursors } from '../postgres/cursors.ts';
import { createForeign } from '../subscribers/chainForeign.ts';
import { watchChainHealth } from '../subscribers/chainHealth.ts';
import { createStands } from '../subscribers/chainStands.ts';
import type { Core } from './core.ts';

export const runChainHealth = (core: Core, signal: AbortSignal): Promise<void> =>
  core.leases.hold('chainHealth', signal, async (held) => {
    await Promise.all([...core.chains].map(([chainId, open]) => watchOne(core, chainId, open, held)));
  });

function watchOne(core: Core, chainId: ChainId, { health }: OpenChain, signal: AbortSignal): Promise<void> {
  const { clock, config, database, telemetry } = core;
  const chain = chainOf(chainId);
  const cursors = createCursors(database);
  const stands = createStands({
    chain,
    health,
    observe: (node, part, standing_ms) => telemetry.observeStands({ chainId, node, part, standing_ms }),
    tell: ({ node, part, block, message }) =>
      telemetry.alarm('chainStands', { chainId, node, part, block: block === null ? null : String(block) }, message),
  });
  const foreign = createForeign({
    chain,
    nodes: health.nodes,
    remembered: () => identityOf(database, chainId),
    remember: (identity) => rememberIdentity(database, chainId, identity, clock.now()),
    scannedTo: async () => (await cursors.load(chainId, 'head'))?.blockNumber ?? null,
    tell: ({ node, message }) => telemetry.alarm('chainForeign', { chainId, node }, message),
  });
  return watchChainHealth(
    {
      clock,
      health,
      // A local chain's pace is its sandbox's.
      compared: { pace: config.mode === 'production' },
      stands,
      foreign,
      differs: (message) => telemetry.alarm('chainDiffers', { chainId }, message),
      failed: (error) => telemetry.logger.warn({ chainId, error: String(error) }, 'a look at the nodes failed'),
    },
    signal,
  );
}
