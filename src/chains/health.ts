/** What an operator is to know of a chain and its nodes: each node is asked for itself, seldom, behind everything that is urgent. */
import type { Chain } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { inParallel } from '../lib/inParallel.ts';
import { type ChainNode, RpcFailed } from './node/jsonRpc.ts';
import type { ChainRpc } from './node/nodes.ts';

/** What a node shows of its chain at a moment. */
export interface NodeLook {
  readonly head: { readonly blockNumber: bigint; readonly time: Instant };
  /** What is final by what the configuration follows, or why the node cannot say; null where the configuration counts blocks. */
  readonly final: { readonly blockNumber: bigint } | { readonly why: string } | null;
}

/** Something that a node can or cannot. */
export interface Feature {
  readonly what: string;
  readonly said: string;
  /** False where the service cannot do without it. */
  readonly fits: boolean;
}

/** What the operator is to compare of a chain: its pace can be told on real networks only. */
export interface Compared {
  readonly pace: boolean;
}

export interface WatchedNode {
  /** Its number in the configuration and its host. */
  readonly name: string;
  /** What tells its network from all others, for ever; a node that is refused is asked as well. @throws RpcFailed */
  identity(signal: AbortSignal): Promise<string>;
  /** From now on nobody in this process asks the node about this chain. @param why null: it is asked again */
  refuse(why: string | null): void;
  /** Why it is not queried; null where it is. */
  refused(): string | null;
  /** @throws RpcFailed */
  look(signal: AbortSignal): Promise<NodeLook>;
  /** How its chain differs from what this release knows of it, each with what to do; what it cannot tell is left out. @throws RpcFailed */
  differences(compared: Compared, signal: AbortSignal): Promise<readonly string[]>;
  /** What it can, tried out: a few dozen calls, some of them large. */
  features(signal: AbortSignal): Promise<readonly Feature[]>;
}

export interface ChainHealth {
  readonly nodes: readonly WatchedNode[];
  /** The usual time between two steps of what is final. */
  readonly finalSteps_ms: number;
}

export interface TriedFeature {
  readonly what: string;
  /** Whether the service cannot do without it. */
  readonly needed: boolean;
  /** @returns what the node can, in words @throws RpcFailed when it cannot */
  tryOut(node: ChainNode): Promise<string>;
}

/** How a family asks one node. */
export interface HealthQuestions {
  identity(node: ChainNode): Promise<string>;
  look(node: ChainNode): Promise<NodeLook>;
  /** Each is tried by itself: what a node refuses is its answer. */
  readonly features: readonly TriedFeature[];
  /** Each answers undefined where there is no difference. */
  readonly comparisons: readonly ((node: ChainNode) => Promise<string | undefined>)[];
  /** The time between blocks as the chain's own clock has it; undefined while it is too short to say. */
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
    async differences({ pace }: Compared, signal: AbortSignal) {
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

/** Blocks that are slow for an hour are no other chain; half as long or twice as long lasts. */
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
