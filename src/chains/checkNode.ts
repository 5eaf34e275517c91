/** Identity, capabilities and progress of one node, for an operator before going live. */
import type { Chain } from '../../domain/chains.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import type { Feature, NodeLook, WatchedNode } from './health.ts';

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
