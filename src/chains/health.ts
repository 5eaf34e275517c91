/** Facts about a chain and its nodes for operators: each node is queried alone, rarely, with the lowest priority. */
import type { Chain } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { inParallel } from '../lib/concurrency.ts';
import { type ChainNode, RpcFailed } from './node/jsonRpc.ts';
import type { ChainRpc } from './node/nodes.ts';

/** State of a chain at a node at one moment. */
export interface NodeLook {
  readonly head: { readonly blockNumber: bigint; readonly time: Instant };
  /** Final block by the configured tag, or why the node cannot return it; null if the configuration counts blocks. */
  readonly final: { readonly blockNumber: bigint } | { readonly why: string } | null;
}

/** A capability of a node. */
export interface Feature {
  readonly what: string;
  readonly said: string;
  /** False if the service requires it. */
  readonly fits: boolean;
}

/** Aspects to compare: a chain's pace is meaningful on real networks only. */
export interface ComparedAspects {
  readonly pace: boolean;
}

export interface WatchedNode {
  /** Number in the configuration and host. */
  readonly name: string;
  /** Permanent identity of its network; also works for a refused node. @throws RpcFailed */
  identity(signal: AbortSignal): Promise<string>;
  /** Stops all calls of this process to the node about this chain. @param why null: allows calls again */
  refuse(why: string | null): void;
  /** Reason why it is not queried; null if it is. */
  refused(): string | null;
  /** @throws RpcFailed */
  look(signal: AbortSignal): Promise<NodeLook>;
  /** Differences between its chain and this release's catalogue, each with what to do; undetectable ones are omitted. @throws RpcFailed */
  differences(compared: ComparedAspects, signal: AbortSignal): Promise<readonly string[]>;
  /** Its capabilities by trial: a few dozen calls, some of them large. */
  features(signal: AbortSignal): Promise<readonly Feature[]>;
}

export interface ChainHealth {
  readonly nodes: readonly WatchedNode[];
  /** Usual time between two final blocks. */
  readonly finalSteps_ms: number;
}

export interface TriedFeature {
  readonly what: string;
  /** True if the service requires it. */
  readonly needed: boolean;
  /** @returns the capability in words @throws RpcFailed if it is missing */
  tryOut(node: ChainNode): Promise<string>;
}

/** Queries of a family to one node. */
export interface HealthQuestions {
  identity(node: ChainNode): Promise<string>;
  look(node: ChainNode): Promise<NodeLook>;
  /** Each is tried separately: a refusal is a result. */
  readonly features: readonly TriedFeature[];
  /** Each returns undefined if there is no difference. */
  readonly comparisons: readonly ((node: ChainNode) => Promise<string | undefined>)[];
  /** Time between blocks by the chain's own clock; undefined while it is too short to measure. */
  pace_ms(node: ChainNode): Promise<number | undefined>;
}

export function createChainHealth(
  chain: Chain,
  rpc: ChainRpc,
  finalSteps_ms: number,
  { identity, look, features, comparisons, pace_ms }: HealthQuestions,
): ChainHealth {
  const late = rpc.as('late');
  const asked = late.nodes.flatMap((connect, at) => {
    const gate = late.gates[at];
    return gate ? [{ connect, gate }] : [];
  });
  const nodes = asked.map(({ connect, gate }) => ({
    name: gate.name,
    refuse: gate.refuse,
    refused: gate.refused,
    identity: (signal: AbortSignal) => identity(gate.whenRefused(signal)),
    look: (signal: AbortSignal) => look(connect(signal)),
    features: (signal: AbortSignal) => inParallel(features, 1, (feature) => tried(connect(signal), feature)),
    async differences({ pace }: ComparedAspects, signal: AbortSignal) {
      const node = connect(signal);
      const asked = [...comparisons, ...(pace ? [async () => paceProblem(chain, await pace_ms(node))] : [])];
      const answers = await Promise.allSettled(asked.map((compare) => compare(node)));
      const failure = answers.find((each) => each.status === 'rejected');
      if (failure && answers.every(({ status }) => status === 'rejected')) throw failure.reason;
      return answers.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []));
    },
  }));
  return { nodes, finalSteps_ms };
}

async function tried(node: ChainNode, { what, needed, tryOut }: TriedFeature): Promise<Feature> {
  try {
    return { what, said: await tryOut(node), fits: true };
  } catch (error) {
    if (!(error instanceof RpcFailed)) throw error;
    return { what, said: error.message, fits: !needed };
  }
}

/** Blocks that are slow for an hour are no difference; twice or half the pace is. */
const paceFactor = 1.5;

function paceProblem({ id, name, block_ms }: Chain, measured_ms: number | undefined): string | undefined {
  if (measured_ms === undefined || measured_ms <= 0) return undefined;
  const factor = measured_ms > block_ms ? measured_ms / block_ms : block_ms / measured_ms;
  if (factor < paceFactor) return undefined;
  return (
    `${name} makes a block every ${Math.round(measured_ms)} ms, and this release counts on ${block_ms}: what counts blocks means another ` +
    `time. Set CONFIRMATIONS_${id}, CONFIRMATIONS_LARGE_${id} and PAYOUT_CONFIRMATIONS_${id} by a tag, where they count blocks, and upgrade`
  );
}
