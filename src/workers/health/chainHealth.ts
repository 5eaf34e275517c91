/** Looks at the nodes of a chain now and then: whether they stand still, belong to another network, or to a chain that has changed. */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, hour_ms, type Instant } from '../../../domain/time.ts';
import type { ChainHealth, Compared, WatchedNode } from '../../chains/health.ts';
import type { ForeignWatch } from './chainForeign.ts';
import type { Looked } from './chainStands.ts';

export interface ChainHealthDeps {
  readonly clock: Clock;
  readonly health: ChainHealth;
  readonly compared: Compared;
  readonly stands: (all: readonly Looked[], at: Instant) => void;
  readonly foreign: ForeignWatch;
  /** Told of each difference between the chain and what this release knows of it, once a day. */
  readonly differs: (message: string) => void;
  /** A round that could not be ended, as when Postgres is away; the next one tries again. */
  readonly failed: (error: unknown) => void;
}

const look_ms = 20_000;
const answer_ms = 15_000;
const compare_ms = 24 * hour_ms;

/** Until the signal aborts. */
export async function watchChainHealth(deps: ChainHealthDeps, signal: AbortSignal): Promise<void> {
  const { clock, health, compared, stands, foreign, differs, failed } = deps;
  let comparedAt_ms = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    await round().catch((error: unknown) => {
      if (!signal.aborted) failed(error);
    });
    if (!signal.aborted) await clock.sleep(look_ms, signal);
  }

  async function round(): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
    const all = await Promise.all(health.nodes.map((node) => lookAt(node, patience)));
    if (signal.aborted) return;
    const at = clock.now();
    stands(all, at);
    await foreign.judge(all, at, patience);
    if (epochMs(at) - comparedAt_ms >= compare_ms && (await compare(patience))) comparedAt_ms = epochMs(at);
  }

  /** By the first node that can say. */
  async function compare(patience: AbortSignal): Promise<boolean> {
    for (const node of health.nodes) {
      const found = await node.differences(compared, patience).catch(() => undefined);
      found?.forEach(differs);
      if (found) return true;
    }
    return false;
  }
}

async function lookAt(node: WatchedNode, signal: AbortSignal): Promise<Looked> {
  try {
    return { node: node.name, look: await node.look(signal) };
  } catch (error) {
    const failure = signal.aborted
      ? 'it does not answer in time'
      : error instanceof Error
        ? error.message
        : String(error);
    return { node: node.name, look: { failure } };
  }
}
