/**
 * How fast one node may be asked, by whomever in this process. Nothing is known at first and every call goes out at once; refusals teach
 * the rate and make pauses. While calls wait, they share the rate by their priorities (stride scheduling: Waldspurger and Weihl 1995).
 */
import { createPace } from './pace.ts';
import type { Ticker } from './ticker.ts';

/** Whose calls a node takes first while it takes fewer than are wanted. Late ones have their share as well. */
export type Priority = 'payout' | 'head' | 'late';

export interface LimiterDeps {
  readonly ticker: Ticker;
  /** From 0 up to 1, so that those who were refused together do not come back together. */
  random(): number;
}

/** The node takes no call within the time that this one could wait. */
export class Crowded extends Error {
  override readonly name = 'Crowded';
}

/** Leave to send one call; it is told what came of it. */
export interface Leave {
  readonly number: number;
  readonly cost: number;
}

export interface Wanted {
  /** In usual calls. */
  readonly cost: number;
  readonly priority: Priority;
  /** Longest wait for leave. */
  readonly patience_ms: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Limiter {
  /** @throws Crowded, at once where the wait is known to be too long; what the signal was aborted with */
  leave(wanted: Wanted): Promise<Leave>;
  /** The node took the call, whatever it answered. */
  taken(leave: Leave): void;
  /** The node refused the call because there were too many. @param retryAfter_ms what it asks to wait, if it does */
  refused(leave: Leave, retryAfter_ms?: number): void;
  /** How many calls the node has taken so far. */
  takenSoFar(): number;
  /** How long a usual call would wait now. */
  wait_ms(priority: Priority): number;
  /** Usual calls in a second that the node is held to take; null while it has refused none. */
  rate(): number | null;
}

/** How the rate is shared among those that wait. */
const shares: Readonly<Record<Priority, number>> = { payout: 8, head: 3, late: 1 };
const priorities = ['payout', 'head', 'late'] as const satisfies readonly Priority[];
/** Calls that wait, of each priority. */
export const waitingMax = 256;

const pauseFirst_ms = 250;
const pauseMost_ms = 30_000;
/** A node that asks for more than this is asked again all the same. */
const retryAfterMost_ms = 60_000;

export function createLimiter({ ticker, random }: LimiterDeps): Limiter {
  const pace = createPace(ticker);
  const line = createLine();
  let pausedUntil_ms = 0;
  let given = 0;
  let taken = 0;
  /** Refusals in a row of calls that went out after the one before. */
  let strikes = 0;
  let cutAfter = 0;
  let cancelWake: (() => void) | undefined;

  const paused_ms = (): number => Math.max(0, pausedUntil_ms - ticker.now_ms());

  function give(cost: number): Leave {
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

  const wait = ({ cost, priority, patience_ms, signal }: Wanted): Promise<Leave> =>
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
      const calmDown = ticker.after(patience_ms, () => giveUp(new Crowded('it takes no more calls for now')));
      signal?.addEventListener('abort', abort, { once: true });
      line.add(priority, waiting);
      serve();
    });

  const waitFor_ms = (priority: Priority, cost: number): number =>
    paused_ms() + pace.wait_ms(cost, line.before(priority, cost));

  return {
    async leave(wanted) {
      const { cost, priority, patience_ms, signal } = wanted;
      signal?.throwIfAborted();
      const wait_ms = waitFor_ms(priority, cost);
      if (wait_ms === 0 && !line.first()) return give(cost);
      if (wait_ms > patience_ms) throw new Crowded(`it takes the next call in ${Math.ceil(wait_ms)} ms`);
      if (line.length(priority) >= waitingMax) throw new Crowded(`${waitingMax} calls wait for it`);
      return wait(wanted);
    },

    taken({ number, cost }) {
      pace.took(cost);
      taken += 1;
      if (number > cutAfter) strikes = 0;
    },

    refused({ number }, retryAfter_ms) {
      // Calls that were under way when the rate was cut say nothing of the new one.
      if (number > cutAfter) {
        // A node that takes nothing at all shows no rate: only the pauses grow then.
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

/** Those that wait, each priority in the order of their coming. */
function createLine() {
  const queues: Readonly<Record<Priority, Waiting[]>> = { payout: [], head: [], late: [] };
  /** What each priority has had, measured by its share: whoever has had least is next. */
  const had: Record<Priority, number> = { payout: 0, head: 0, late: 0 };
  let newest = 0;

  const active = () => priorities.filter((priority) => queues[priority].length > 0);
  const costOf = (priority: Priority): number => queues[priority].reduce((sum, { cost }) => sum + cost, 0);

  return {
    add(priority: Priority, waiting: Waiting): void {
      // Whoever did not wait has saved nothing up.
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
    /** Most that goes out before a call that comes now. */
    before(priority: Priority, cost: number): number {
      const all = priorities.reduce((sum, each) => sum + costOf(each), 0);
      const sharing = [...new Set([...active(), priority])].reduce((sum, each) => sum + shares[each], 0);
      const own = costOf(priority) + cost;
      return Math.min(all, own * (sharing / shares[priority]) - cost);
    },
  };
}
