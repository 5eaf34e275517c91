/** Facts about a chain and its nodes for operators: each node is queried alone, rarely, with the lowest priority. */
import type { Chain } from '../../domain/chains.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import { inParallel } from '../lib/concurrency.ts';
import { type ChainNode, isSwitchedOff, type RpcCall, RpcFailed } from './node/jsonRpc.ts';
import type { ChainRpc } from './node/nodes.ts';

/** State of a chain at a node at one moment. */
export interface NodeLook {
  readonly head: { readonly blockNumber: bigint; readonly time: Instant };
  /** Final block by the configured tag, or why the node cannot return it; null if the configuration counts blocks. */
  readonly final: { readonly blockNumber: bigint } | { readonly why: string } | null;
}

/** A capability of a node. */
interface Feature {
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

// Tries each method that the service calls on a node, so an operator finds a missing one before a payer does.

export interface MethodProbe extends RpcCall {
  /** Every node refuses these parameters, for example an invalid transaction. The probe only shows that the method is served. */
  readonly refusedAnyway?: true;
}

/**
 * Calls the methods one after the other.
 *
 * @returns text for an operator
 * @throws RpcFailed that lists each unserved method with the node's answer
 */
export async function tryMethods(node: ChainNode, probes: readonly MethodProbe[]): Promise<string> {
  const failures: RpcFailed[] = [];
  for (const probe of probes) {
    const failure = await failureOf(node, probe);
    if (failure) failures.push(failure);
  }
  const [first, ...others] = failures;
  if (first === undefined) return `all ${probes.length}`;
  const more = others.map(({ method, kind, detail }) => `; ${method} ${kind}: ${detail}`).join('');
  throw new RpcFailed(node.name, first.method, first.kind, `${first.detail}${more}`, first.code);
}

async function failureOf(
  node: ChainNode,
  { method, params, refusedAnyway }: MethodProbe,
): Promise<RpcFailed | undefined> {
  try {
    await node.request(method, params);
    return undefined;
  } catch (error) {
    if (!(error instanceof RpcFailed)) throw error;
    const isServed = error.kind === 'refused' && !isSwitchedOff({ code: error.code, words: error.detail });
    return refusedAnyway && isServed ? undefined : error;
  }
}

// Identity, capabilities and progress of one node, for an operator before going live.

export interface NodeReport {
  readonly node: string;
  /** `look`: usable, with problems to read. */
  readonly verdict: 'fit' | 'look' | 'unfit';
  /** Null if the node does not return it. */
  readonly identity: string | null;
  readonly head: string;
  readonly final: string;
  /** Duration of the calls for head and finality; null without an answer. */
  readonly took_ms: number | null;
  readonly features: readonly Feature[];
  readonly problems: readonly string[];
}

export interface CheckAbout {
  readonly chain: Pick<Chain, 'name' | 'block_ms'>;
  /** Network that the service has read so far; null before that. */
  readonly remembered: string | null;
  readonly pace: boolean;
  readonly now: () => Instant;
}

const patience_ms = 60_000;
const ageMost_ms = 60_000;

export async function checkNode(node: WatchedNode, about: CheckAbout): Promise<NodeReport> {
  const signal = AbortSignal.timeout(patience_ms);
  const began_ms = epochMs(about.now());
  const [look, failure] = await told(node.look(signal));
  const took_ms = look ? epochMs(about.now()) - began_ms : null;
  if (!look) return { ...nothing, node: node.name, problems: [failure] };
  const [identity, unnamed] = await told(node.identity(signal));
  const [differences, untold] = await told(node.differences({ pace: about.pace }, signal));
  const [features, unasked] = await told(node.features(signal));
  const foreign = identity !== undefined && about.remembered !== null && identity !== about.remembered;
  const lacks = (features ?? []).filter(({ fits }) => !fits).map(({ what, said }) => `${what}: ${said}`);
  const unfit = [...(foreign ? [`it is of another network than ${about.remembered}`] : []), ...lacks];
  const failures = [unnamed, untold, unasked].filter((each) => each !== '');
  const others = [...problemsIn(look, about), ...(differences ?? []), ...failures];
  return {
    node: node.name,
    verdict: unfit.length > 0 ? 'unfit' : others.length > 0 ? 'look' : 'fit',
    identity: identity ?? null,
    ...inWords(look, about),
    took_ms,
    features: features ?? [],
    problems: [...unfit, ...others],
  };
}

const nothing = { verdict: 'unfit', identity: null, head: '', final: '', took_ms: null, features: [] } as const;

async function told<T>(asked: Promise<T>): Promise<readonly [T | undefined, string]> {
  try {
    return [await asked, ''];
  } catch (error) {
    return [undefined, error instanceof Error ? error.message : String(error)];
  }
}

function problemsIn({ head, final }: NodeLook, { chain, now }: CheckAbout): readonly string[] {
  const age_ms = Math.abs(epochMs(now()) - epochMs(head.time));
  const stands = age_ms > ageMost_ms + 3 * chain.block_ms;
  return [
    ...(stands ? [`its newest block is of ${head.time}: it lags, or one of the two clocks is wrong`] : []),
    ...(final && 'why' in final ? [`it says nothing of what is final: ${final.why}`] : []),
    ...(final && 'blockNumber' in final && final.blockNumber === 0n
      ? ['what it calls final is the genesis block']
      : []),
  ];
}

function inWords({ head, final }: NodeLook, { now }: CheckAbout): Pick<NodeReport, 'head' | 'final'> {
  const age_s = Math.round((epochMs(now()) - epochMs(head.time)) / 1_000);
  const behind =
    final && 'blockNumber' in final
      ? `${final.blockNumber}, ${head.blockNumber - final.blockNumber} behind`
      : 'unknown';
  return { head: `${head.blockNumber}, ${age_s} s old`, final: final === null ? 'by counting blocks' : behind };
}
