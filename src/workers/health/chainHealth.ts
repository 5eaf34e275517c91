/** Periodically checks the nodes of a chain: whether one stands still, belongs to another network, or to a changed chain. */
import type { Clock } from '../../../commands/ports.ts';
import type { Chain } from '../../../domain/chains.ts';
import { epochMs, hour_ms, type Instant, minute_ms } from '../../../domain/time.ts';
import type { ChainHealth, ComparedAspects, NodeLook, WatchedNode } from '../../chains/health.ts';
import { boundedTimes } from '../../lib/cache.ts';
import { higher } from '../../lib/concurrency.ts';

export interface ChainHealthDeps {
  readonly clock: Clock;
  readonly health: ChainHealth;
  readonly compared: ComparedAspects;
  readonly stands: (all: readonly NodeResult[], at: Instant) => void;
  readonly foreign: ForeignWatch;
  /** Receives each difference between the chain and this release's facts once a day. */
  readonly differs: (message: string) => void;
  /** A round failed, for example without Postgres; the next one retries. */
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

  /** From the first node that answers. */
  async function compare(patience: AbortSignal): Promise<boolean> {
    for (const node of health.nodes) {
      const found = await node.differences(compared, patience).catch(() => undefined);
      found?.forEach(differs);
      if (found) return true;
    }
    return false;
  }
}

async function lookAt(node: WatchedNode, signal: AbortSignal): Promise<NodeResult> {
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

// Stops calls to nodes of other networks with the right chain id, by comparing network identities with the one of the first read.

/** A node of another network, or of an unknown one. */
export interface ForeignNode {
  readonly node: string;
  readonly message: string;
}

export interface IdentityDeps {
  readonly chain: Pick<Chain, 'id' | 'name'>;
  readonly nodes: readonly Pick<WatchedNode, 'name' | 'identity' | 'refuse'>[];
  /** Identity of the network at its first read; null before that. */
  readonly remembered: () => Promise<string | null>;
  /** @returns the identity that is stored from now on */
  readonly remember: (identity: string) => Promise<string>;
  readonly tell: (stranger: ForeignNode) => void;
}

const usually_ms = 10 * minute_ms;
/** Recheck interval of a refused node, which may have been fixed. */
const refused_ms = minute_ms;

export interface IdentityWatch {
  /** Queries the nodes when due. Proven foreign nodes are refused until they return the right network. @throws Unavailable */
  judge(now_ms: number, signal: AbortSignal): Promise<void>;
}

export function createIdentityWatch({ chain, nodes, remembered, remember, tell }: IdentityDeps): IdentityWatch {
  const refused = new Set<string>();
  let askedAt_ms = Number.NEGATIVE_INFINITY;

  return {
    async judge(now_ms, signal) {
      if (now_ms - askedAt_ms < (refused.size > 0 ? refused_ms : usually_ms)) return;
      askedAt_ms = now_ms;
      const asked = await Promise.allSettled(
        nodes.map(async (node) => ({ node, identity: await node.identity(signal) })),
      );
      const said = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      const known = (await remembered()) ?? (await agreedOn(said.map(({ identity }) => identity)));
      for (const { node, identity } of said) {
        if (identity === known) admit(node);
        else if (known === undefined) tell({ node: node.name, message: undecided(node.name, identity) });
        else refuse(node, identity, known);
      }
    },
  };

  /** The first identity is stored once all answering nodes agree. */
  async function agreedOn(said: readonly string[]): Promise<string | undefined> {
    const [first, ...others] = [...new Set(said)];
    return first !== undefined && others.length === 0 ? remember(first) : undefined;
  }

  function admit(node: IdentityDeps['nodes'][number]): void {
    if (refused.delete(node.name)) node.refuse(null);
  }

  function refuse(node: IdentityDeps['nodes'][number], identity: string, known: string): void {
    const why = `it is of the network ${identity}, and the one that was read so far is ${known}`;
    refused.add(node.name);
    node.refuse(why);
    const what = `${chain.name}: ${node.name} is not asked any more: ${why}. Take it out of RPC_URLS_${chain.id}`;
    tell({ node: node.name, message: `${what}. ${begunAnew(chain)}` });
  }

  function undecided(node: string, identity: string): string {
    const what = `${chain.name}: ${node} is of the network ${identity}; nodes name different networks, and none is remembered`;
    return `${what}: take out of RPC_URLS_${chain.id} those that are not meant. ${begunAnew(chain)}`;
  }
}

export const begunAnew = ({ id }: Pick<Chain, 'id'>): string =>
  `If this is a test network that was begun anew: npm run check-chain -- ${id} --begun-anew`;

// Detects nodes of another network with the right chain id: by network identities, which stops calls to them, or by their height.

export interface ForeignDeps extends IdentityDeps {
  readonly chain: Pick<Chain, 'id' | 'name' | 'block_ms'>;
  /** Highest block of the chain that any pass has read; null before that. */
  readonly scannedTo: () => Promise<bigint | null>;
}

const toldAgain_ms = 30 * minute_ms;
/** A node this far behind for this long is not just lagging. */
const behind_ms = 3 * minute_ms;

export interface ForeignWatch {
  /** Runs with each round of checks. @throws Unavailable */
  judge(all: readonly NodeResult[], at: Instant, signal: AbortSignal): Promise<void>;
}

export function createForeign(deps: ForeignDeps): ForeignWatch {
  const { chain, tell } = deps;
  const toldAt = boundedTimes();
  const behindSince = new Map<string, number>();
  let now_ms = 0;
  const identities = createIdentityWatch({ ...deps, tell: (stranger) => told(`${stranger.node} identity`, stranger) });

  const told = (key: string, foreign: ForeignNode) => {
    if (now_ms - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < toldAgain_ms) return;
    toldAt.set(key, now_ms);
    tell(foreign);
  };

  return {
    async judge(all, at, signal) {
      now_ms = epochMs(at);
      await judgePlaces(all);
      await identities.judge(now_ms, signal);
    },
  };

  async function judgePlaces(all: readonly NodeResult[]): Promise<void> {
    const scannedTo = await deps.scannedTo();
    for (const { node, look } of all) {
      if ('failure' in look) continue;
      const behind = scannedTo === null ? 0 : Number(scannedTo - look.head.blockNumber);
      if (behind * chain.block_ms <= behind_ms) behindSince.delete(node);
      else if (!behindSince.has(node)) behindSince.set(node, now_ms);
      const since_ms = behindSince.get(node);
      if (since_ms === undefined || now_ms - since_ms < behind_ms) continue;
      const message =
        `${chain.name}: ${node} stands at block ${look.head.blockNumber}, and ${scannedTo} was read before: it is of another network, was ` +
        `begun anew, or is far behind. Take it out of RPC_URLS_${chain.id} until it has come so far. ${begunAnew(chain)}`;
      told(`${node} place`, { node, message });
    }
  }
}

// Detects nodes of a chain that stand still, by head, finality or clock.

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
