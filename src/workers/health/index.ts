/** Health of all chains: checked by one instance, reported to operators. */
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { epochMs } from '../../../domain/time.ts';
import type { OpenChain } from '../../chains/family.ts';
import type { ChainHealth } from '../../chains/health.ts';
import type { Core } from '../../core.ts';
import { identityOf, rememberIdentity } from '../../postgres/chainIdentities.ts';
import { createCursors } from '../../postgres/cursors.ts';
import { createForeign, createIdentityWatch, createStands, watchChainHealth } from './chainHealth.ts';

export const runChainHealth = (core: Core, signal: AbortSignal): Promise<void> =>
  core.leases.hold('chainHealth', signal, async (held) => {
    await Promise.all([...core.chains].map(([chainId, open]) => watchOne(core, chainId, open, held)));
  });

const look_ms = 20_000;
const answer_ms = 15_000;

/** On every instance: stops calls to a node of another network. The check above reports it to the operator. */
export async function guardNodes(core: Core, signal: AbortSignal): Promise<void> {
  await Promise.all([...core.chains].map(([chainId, { health }]) => guardOne(core, chainId, health, signal)));
}

async function guardOne(core: Core, chainId: ChainId, { nodes }: ChainHealth, signal: AbortSignal): Promise<void> {
  const { clock } = core;
  const identities = createIdentityWatch({
    ...identityDeps(core, chainId),
    chain: chainOf(chainId),
    nodes,
    tell: () => {},
  });
  while (!signal.aborted) {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
    // Without Postgres the last known identities apply.
    await identities.judge(epochMs(clock.now()), patience).catch(() => undefined);
    if (!signal.aborted) await clock.sleep(look_ms, signal);
  }
}

const identityDeps = ({ database, clock }: Core, chainId: ChainId) => ({
  remembered: () => identityOf(database, chainId),
  remember: (identity: string) => rememberIdentity(database, chainId, identity, clock.now()),
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
    ...identityDeps(core, chainId),
    scannedTo: async () => (await cursors.load(chainId, 'head'))?.blockNumber ?? null,
    tell: ({ node, message }) => telemetry.alarm('chainForeign', { chainId, node }, message),
  });
  return watchChainHealth(
    {
      clock,
      health,
      // A local chain has its sandbox's pace.
      compared: { pace: config.mode === 'production' },
      stands,
      foreign,
      differs: (message) => telemetry.alarm('chainDiffers', { chainId }, message),
      failed: (error) => telemetry.logger.warn({ chainId, error: String(error) }, 'a check of the nodes failed'),
    },
    signal,
  );
}
