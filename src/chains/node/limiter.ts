/**
 * Rate of calls to one node by all users in this process. Initially no call waits; refusals teach the rate and cause pauses. Waiting calls
 * share the rate by priority (stride scheduling: Waldspurger and Weihl 1995).
 */

const rateLeast = 0.5;
/** Minimum rate after a first refusal: others' calls may have caused it. */
const rateFirst = 5;
/** Above this rate nothing waits. */
const rateMost = 1_000;
const cutTo = 0.7;
/** Growth per second while calls are queued: 3 % + 0.05. */
const growth = { part: 0.03, plus: 0.05 };
/** Burst after a pause, in seconds of the rate. */
const burst_s = 0.5;
const window_ms = 1_000;

export interface Pace {
  /** Usual calls per second; null while no call waits. */
  rate(): number | null;
  /** Time until a call may be sent, after others of this total cost. */
  wait_ms(cost: number, before?: number): number;
  spend(cost: number): void;
  /** Calls are waiting: the rate may be too low. */
  holdsBack(): void;
  /** The node accepted calls of this cost. */
  took(cost: number): void;
  /** Calls of this cost were too fast. */
  cut(): void;
  /** Empties the bucket. */
  empty(): void;
}

/**
 * Keeps calls below a node's rate: a bucket that fills at that rate. The first refusal sets the rate, each further one cuts it, and it
 * grows slowly while it delays calls (additive increase, multiplicative decrease, as in RFC 5681).
 */
export function createPace({ now_ms }: Pick<Ticker, 'now_ms'>): Pace {
  let rate: number | null = null;
  let tokens = 0;
  let filledAt_ms = now_ms();
  let held = false;
  const taken = createWindow(now_ms);

  const most = (): number => Math.max(1, (rate ?? 0) * burst_s);

  function fill(): void {
    const passed_s = (now_ms() - filledAt_ms) / 1_000;
    filledAt_ms = now_ms();
    if (rate === null) return;
    if (held) rate += (rate * growth.part + growth.plus) * Math.min(passed_s, 1);
    held = false;
    tokens = Math.min(most(), tokens + rate * passed_s);
    if (rate > rateMost) rate = null;
  }

  return {
    rate: () => rate,
    wait_ms(cost, before = 0) {
      fill();
      if (rate === null) return 0;
      // A call dearer than the bucket is sent when the bucket is full, and the next ones wait for it.
      const lacking = before + Math.min(cost, most()) - tokens;
      return lacking < 1e-6 ? 0 : (lacking / rate) * 1_000;
    },
    spend(cost) {
      fill();
      if (rate !== null) tokens -= cost;
    },
    holdsBack() {
      held = true;
    },
    took: taken.add,
    cut() {
      fill();
      rate = rate === null ? Math.max(rateFirst, cutTo * taken.most()) : Math.max(rateLeast, cutTo * rate);
    },
    empty() {
      fill();
      tokens = Math.min(tokens, 0);
    },
  };
}

/** Counts of the current and the previous second. */
function createWindow(now_ms: Ticker['now_ms']) {
  let [present, before, begun_ms] = [0, 0, now_ms()];

  function turn(): void {
    const windows = Math.floor((now_ms() - begun_ms) / window_ms);
    if (windows === 0) return;
    [present, before] = [0, windows === 1 ? present : 0];
    begun_ms += windows * window_ms;
  }

  return {
    add(count: number): void {
      turn();
      present += count;
    },
    most(): number {
      turn();
      return Math.max(present, before);
    },
  };
}

/** Priority of calls while a node's rate is short. Low-priority calls get a share as well. */
export type Priority = 'payout' | 'head' | 'late';

interface LimiterDeps {
  readonly ticker: Ticker;
  /** Random from 0 up to 1, so refused calls do not return at the same time. */
  random(): number;
}

/** The queue's wait is longer than the call's patience, or the queue is full. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** Permit to send one call. Report its outcome by `taken` or `refused`. */
export interface Permit {
  readonly number: number;
  readonly cost: number;
}

export interface PermitRequest {
  /** In usual calls. */
  readonly cost: number;
  readonly priority: Priority;
  /** Maximum wait for a permit. */
  readonly patience_ms: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Limiter {
  /** Waits for a permit. @throws QueueFull, at once if the wait is known to be too long; the reason of an aborted signal */
  acquire(wanted: PermitRequest): Promise<Permit>;
  /** The node accepted the call, with any answer. */
  taken(permit: Permit): void;
  /** The node refused the call because there were too many. @param retryAfter_ms requested wait, if any */
  refused(permit: Permit, retryAfter_ms?: number): void;
  /** Number of calls that the node has accepted. */
  takenSoFar(): number;
  /** Time that a usual call would wait now. */
  wait_ms(priority: Priority): number;
  /** Assumed maximum rate in usual calls per second; null while it has refused none. */
  rate(): number | null;
}

/** Shares of the rate per priority. */
const shares: Readonly<Record<Priority, number>> = { payout: 8, head: 3, late: 1 };
const priorities = ['payout', 'head', 'late'] as const satisfies readonly Priority[];
/** Maximum waiting calls per priority. */
export const waitingMax = 256;

const pauseFirst_ms = 250;
const pauseMost_ms = 30_000;
/** Upper bound on a requested wait. */
const retryAfterMost_ms = 60_000;

export function createLimiter({ ticker, random }: LimiterDeps): Limiter {
  const pace = createPace(ticker);
  const line = createLine();
  let pausedUntil_ms = 0;
  let given = 0;
  let taken = 0;
  /** Consecutive refusals of calls that were sent after the previous refusal. */
  let strikes = 0;
  let cutAfter = 0;
  let cancelWake: (() => void) | undefined;

  const paused_ms = (): number => Math.max(0, pausedUntil_ms - ticker.now_ms());

  function give(cost: number): Permit {
    pace.spend(cost);
    given += 1;
    return { number: given, cost };
  }

  function serve(): void {
    cancelWake?.();
    cancelWake = undefined;
    for (let first = line.first(); first; first = line.first()) {
      const slow_ms = pace.wait_ms(first.cost);
      const wait_ms = Math.max(paused_ms(), slow_ms);
      if (slow_ms > 0) pace.holdsBack();
      if (wait_ms > 0) {
        cancelWake = ticker.after(Math.ceil(wait_ms), serve);
        return;
      }
      first.go();
    }
  }

  const wait = ({ cost, priority, patience_ms, signal }: PermitRequest): Promise<Permit> =>
    new Promise((resolve, reject) => {
      const abort = () => giveUp(signal?.reason);
      const waiting: Waiting = {
        cost,
        go() {
          depart();
          resolve(give(cost));
        },
      };
      const depart = () => {
        calmDown();
        signal?.removeEventListener('abort', abort);
        line.remove(priority, waiting);
      };
      const giveUp = (why: unknown) => {
        depart();
        reject(why);
        serve();
      };
      const calmDown = ticker.after(patience_ms, () => giveUp(new QueueFull('it takes no more calls for now')));
      signal?.addEventListener('abort', abort, { once: true });
      line.add(priority, waiting);
      serve();
    });

  const waitFor_ms = (priority: Priority, cost: number): number =>
    paused_ms() + pace.wait_ms(cost, line.before(priority, cost));

  return {
    async acquire(wanted) {
      const { cost, priority, patience_ms, signal } = wanted;
      signal?.throwIfAborted();
      const wait_ms = waitFor_ms(priority, cost);
      if (wait_ms === 0 && !line.first()) return give(cost);
      if (wait_ms > patience_ms) throw new QueueFull(`it takes the next call in ${Math.ceil(wait_ms)} ms`);
      if (line.length(priority) >= waitingMax) throw new QueueFull(`${waitingMax} calls wait for it`);
      return wait(wanted);
    },

    taken({ number, cost }) {
      pace.took(cost);
      taken += 1;
      if (number > cutAfter) strikes = 0;
    },

    refused({ number }, retryAfter_ms) {
      // Calls in flight when the rate was cut say nothing about the new rate.
      if (number > cutAfter) {
        // A node that accepts nothing reveals no rate: only the pauses grow then.
        if (strikes === 0) pace.cut();
        strikes += 1;
        cutAfter = given;
      }
      const backOff_ms = Math.min(pauseMost_ms, pauseFirst_ms * 2 ** Math.max(0, strikes - 1)) * (0.5 + random());
      const pause_ms = Math.min(retryAfter_ms ?? backOff_ms, retryAfterMost_ms);
      pausedUntil_ms = Math.max(pausedUntil_ms, ticker.now_ms() + pause_ms);
      pace.empty();
      serve();
    },

    takenSoFar: () => taken,
    wait_ms: (priority) => waitFor_ms(priority, 1),
    rate: pace.rate,
  };
}

interface Waiting {
  readonly cost: number;
  go(): void;
}

/** Waiting calls, each priority in order of arrival. */
function createLine() {
  const queues: Readonly<Record<Priority, Waiting[]>> = { payout: [], head: [], late: [] };
  /** Use of each priority, divided by its share: the lowest is next. */
  const had: Record<Priority, number> = { payout: 0, head: 0, late: 0 };
  let newest = 0;

  const active = () => priorities.filter((priority) => queues[priority].length > 0);
  const costOf = (priority: Priority): number => queues[priority].reduce((sum, { cost }) => sum + cost, 0);

  return {
    add(priority: Priority, waiting: Waiting): void {
      // A priority without waiting calls has saved nothing up.
      if (queues[priority].length === 0) had[priority] = Math.max(had[priority], newest);
      queues[priority].push(waiting);
    },
    first(): (Waiting & { readonly priority: Priority }) | undefined {
      const [some, ...others] = active();
      if (!some) return undefined;
      const priority = others.reduce<Priority>((a, b) => (had[b] < had[a] ? b : a), some);
      const waiting = queues[priority][0];
      if (!waiting) return undefined;
      return {
        priority,
        cost: waiting.cost,
        go() {
          newest = had[priority];
          had[priority] += waiting.cost / shares[priority];
          waiting.go();
        },
      };
    },
    remove(priority: Priority, waiting: Waiting): void {
      const at = queues[priority].indexOf(waiting);
      if (at >= 0) queues[priority].splice(at, 1);
    },
    length: (priority: Priority): number => queues[priority].length,
    /** Upper bound of the cost that is sent before a new call of this priority. */
    before(priority: Priority, cost: number): number {
      const all = priorities.reduce((sum, each) => sum + costOf(each), 0);
      const sharing = [...new Set([...active(), priority])].reduce((sum, each) => sum + shares[each], 0);
      const own = costOf(priority) + cost;
      return Math.min(all, own * (sharing / shares[priority]) - cost);
    },
  };
}

/** Monotonic time and timers. */
export interface Ticker {
  now_ms(): number;
  /** @returns function that cancels the timer */
  after(wait_ms: number, run: () => void): () => void;
}

export const systemTicker: Ticker = {
  now_ms: () => performance.now(),
  after(wait_ms, run) {
    const timer = setTimeout(run, wait_ms);
    return () => clearTimeout(timer);
  },
};

/** Calls of a batch, blocks of a log search, accounts on Solana. */
export type Measure = 'calls' | 'logBlocks' | 'accounts';

export interface NodeLimits {
  /** Undefined while it has refused nothing. */
  most(measure: Measure): number | undefined;
  /** Records that it refuses more than this; a single one is always allowed. */
  learn(measure: Measure, most: number): void;
}

/** Interval after which twice as much is tried: a refusal may have been temporary, or the plan may have changed. */
const calmFirst_ms = 10 * 60_000;
/** Maximum of that interval, which doubles with each failed try. */
const calmMost_ms = 24 * 3_600_000;
/** Above this the limit is irrelevant and dropped. */
const forgottenFrom = 1_000_000;

interface Learnt {
  most: number;
  since_ms: number;
  calm_ms: number;
  /** True while more than the learned limit is being tried. */
  raised: boolean;
}

/** Remembers how much one call may request from a node, learned from its refusals. */
export function createLimits({ now_ms }: Pick<Ticker, 'now_ms'> = systemTicker): NodeLimits {
  const known = new Map<Measure, Learnt>();

  /** One step at a time, after any pause: the next call shows whether it was right. */
  function recovered(measure: Measure): Learnt | undefined {
    const learnt = known.get(measure);
    if (!learnt || now_ms() - learnt.since_ms < learnt.calm_ms) return learnt;
    Object.assign(learnt, { most: learnt.most * 2, since_ms: now_ms(), raised: true });
    if (learnt.most < forgottenFrom) return learnt;
    known.delete(measure);
    return undefined;
  }

  return {
    most: (measure) => recovered(measure)?.most,
    learn(measure, most) {
      const before = known.get(measure);
      const calm_ms = before?.raised ? Math.min(calmMost_ms, before.calm_ms * 2) : (before?.calm_ms ?? calmFirst_ms);
      const least = Math.max(1, Math.min(most, before?.most ?? most));
      known.set(measure, { most: least, since_ms: now_ms(), calm_ms, raised: false });
    },
  };
}

// State of each node, shared by all users in this process: its rate, and its limits per call.

/** Outcome of a call to a node. */
export type CallEnd = 'answered' | 'refused' | 'limited' | 'failed';

export interface Verification {
  readonly since_ms: number;
  /** Rejects with the reason why the node does not serve the chain. */
  readonly outcome: Promise<void>;
  readonly unfit: boolean;
}

export interface NodeLine {
  readonly limiter: Limiter;
  readonly limits: NodeLimits;
  /** Whether the node serves a chain, by chain id. */
  readonly verified: Map<number, Verification>;
  /** Reason why the node is not queried about a chain, while it is not. */
  readonly refused: Map<number, string>;
}

/** For metrics; a node is named by its chain and its number, never by its URL. */
export interface NodeSeen {
  readonly chainId: number;
  readonly node: number;
  /** Kind of call; there are few. */
  readonly kind: string;
  readonly end: CallEnd;
}

export interface NodeRate extends Pick<NodeSeen, 'chainId' | 'node'> {
  /** In usual calls. */
  readonly perSecond: number;
}

export interface NodeLines extends LimiterDeps {
  /** @param named chain and number of the node */
  of(url: string, named: Pick<NodeSeen, 'chainId' | 'node'>): NodeLine;
  seen(call: NodeSeen): void;
  /** Rates of the nodes that have refused calls. */
  rates(): readonly NodeRate[];
}

export function createLines({
  ticker = systemTicker,
  random = Math.random,
  seen = () => {},
}: Partial<LimiterDeps> & { readonly seen?: (call: NodeSeen) => void } = {}): NodeLines {
  const lines = new Map<string, NodeLine>();
  /** Chains and numbers under which a node is used. */
  const names = new Map<string, Pick<NodeSeen, 'chainId' | 'node'> & { readonly line: NodeLine }>();
  return {
    ticker,
    random,
    seen,
    of(url, { chainId, node }) {
      const line = lines.get(url) ?? {
        limiter: createLimiter({ ticker, random }),
        limits: createLimits(ticker),
        verified: new Map(),
        refused: new Map(),
      };
      lines.set(url, line);
      names.set(`${chainId} ${node}`, { chainId, node, line });
      return line;
    },
    rates: () =>
      [...names.values()].flatMap(({ chainId, node, line }) => {
        const perSecond = line.limiter.rate();
        return perSecond === null ? [] : [{ chainId, node, perSecond }];
      }),
  };
}
