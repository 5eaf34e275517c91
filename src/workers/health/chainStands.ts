/** Detects nodes of a chain that stand still, by head, finality or clock. */
import type { Chain } from '../../../domain/chains.ts';
import { epochMs, type Instant, minute_ms } from '../../../domain/time.ts';
import type { ChainHealth, NodeLook } from '../../chains/health.ts';
import { higher } from '../../lib/concurrency.ts';

/** Result of a call to a node. */
export interface NodeResult {
  readonly node: string;
  readonly look: NodeLook | { readonly failure: string };
}

export type StandingPart = 'head' | 'final' | 'clock';

export interface Standstill {
  readonly node: string;
  readonly part: StandingPart;
  /** Last block that it returned. */
  readonly block: bigint | null;
  readonly message: string;
}

export interface StandsDeps {
  readonly chain: Pick<Chain, 'name' | 'block_ms'>;
  readonly health: Pick<ChainHealth, 'finalSteps_ms'>;
  /** Time since a node's value was last right; 0 while it is. */
  readonly observe: (node: string, part: StandingPart, standing_ms: number) => void;
  /** Called once at the start, and again while it lasts. */
  readonly tell: (standing: Standstill) => void;
}

/** Factor of the usual time, with this minimum: chains pause, nodes restart. */
const patience = 3;
const patienceMin_ms = minute_ms;
const toldAgain_ms = 30 * minute_ms;
/** Maximum error of the newest block's time. */
const clockMax_ms = minute_ms;

/** Start of a standstill, and time of the last report. */
interface Mark {
  block: bigint | null;
  since_ms: number;
  toldAt_ms: number | null;
}

/** @returns function to call with each round of checks of all nodes of the chain */
export function createStands({
  chain,
  health,
  observe,
  tell,
}: StandsDeps): (all: readonly NodeResult[], at: Instant) => void {
  const marks = new Map<string, Mark>();
  const usual_ms = { head: chain.block_ms, final: health.finalSteps_ms, clock: 0 };

  return (all, at) => {
    const now_ms = epochMs(at);
    const heads = all.flatMap(({ look }) => ('failure' in look ? [] : [look.head.blockNumber]));
    const newest = heads.reduce(higher, 0n);
    for (const { node, look } of all) {
      if ('failure' in look) judge(node, 'head', undefined, look.failure, now_ms);
      else judgeAnswer(node, look, newest, now_ms);
    }
  };

  function judgeAnswer(node: string, { head, final }: NodeLook, newest: bigint, now_ms: number): void {
    judge(node, 'head', head.blockNumber, headCause(head, newest), now_ms);
    if (final && 'why' in final) judge(node, 'final', undefined, final.why, now_ms);
    else if (final) judge(node, 'final', final.blockNumber, finalCause(final.blockNumber), now_ms);
    const off = clockProblem(head, now_ms);
    judge(node, 'clock', off === undefined ? head.blockNumber : undefined, off ?? '', now_ms);
  }

  /** @param block undefined if it returns none, or a wrong time */
  function judge(node: string, part: StandingPart, block: bigint | undefined, cause: string, now_ms: number): void {
    const key = `${node} ${part}`;
    const mark = marks.get(key) ?? { block: null, since_ms: now_ms, toldAt_ms: null };
    marks.set(key, mark);
    const moved = block !== undefined && (part === 'clock' || mark.block === null || block > mark.block);
    if (moved) Object.assign(mark, { block, since_ms: now_ms, toldAt_ms: null });
    const standing_ms = now_ms - mark.since_ms;
    observe(node, part, standing_ms);
    if (standing_ms <= Math.max(patienceMin_ms, patience * usual_ms[part])) return;
    if (mark.toldAt_ms !== null && now_ms - mark.toldAt_ms < toldAgain_ms) return;
    mark.toldAt_ms = now_ms;
    const since = `${chain.name}: ${inWords[part]} ${node} for ${Math.round(standing_ms / 1_000)} s`;
    const last = mark.block === null ? 'it has shown no block' : `its last block was ${mark.block}`;
    tell({ node, part, block: mark.block, message: `${since}; ${last}. ${cause}` });
  }

  function clockProblem({ time }: NodeLook['head'], now_ms: number): string | undefined {
    const age_ms = now_ms - epochMs(time);
    const seconds = Math.round(Math.abs(age_ms) / 1_000);
    if (age_ms < -clockMax_ms)
      return `Its newest block is ${seconds} s ahead of this machine: one of the two clocks is wrong`;
    if (age_ms > clockMax_ms + patience * chain.block_ms)
      return `Its newest block is ${seconds} s old: it stands, is still catching up, or one of the two clocks is wrong`;
    return undefined;
  }
}

const inWords = {
  head: 'no new block from',
  final: 'nothing more has become final at',
  clock: 'the time is off at',
} as const;

function headCause({ blockNumber, time }: NodeLook['head'], newest: bigint): string {
  const shown = `It shows block ${blockNumber} of ${time}`;
  if (newest <= blockNumber) return `${shown}, and no other node shows a newer one: the chain may stand`;
  return (
    `${shown}, others have come to ${newest}: it is stuck. While it answers, what it does not show holds up what becomes final and ` +
    'which payments end: mend it, or take it out of RPC_URLS_<chainId>'
  );
}

const finalCause = (block: bigint): string =>
  block === 0n
    ? 'What it calls final is the genesis block: it does not follow the finality of its chain. Use another node'
    : 'The head goes on: the network does not finalise, or the node has lost what tells it of that';
