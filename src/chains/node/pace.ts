/**
 * The rate that a node is held to take: a bucket that fills at it, and what teaches it. The first refusal shows a rate, each further one
 * cuts it, and it grows slowly while it holds calls back (additive increase, multiplicative decrease, as of RFC 5681).
 */
import type { Ticker } from './ticker.ts';

const rateLeast = 0.5;
/** Least that a first refusal shows: one among few calls may have been due to others. */
const rateFirst = 5;
/** Beyond this nothing is held back any more. */
const rateMost = 1_000;
const cutTo = 0.7;
/** In each second in which the rate holds calls back: a part of it, and so much more. */
const growth = { part: 0.03, plus: 0.05 };
/** What may go out at once after a silence, in seconds of the rate. */
const burst_s = 0.5;
const window_ms = 1_000;

export interface Pace {
  /** Usual calls in a second; null while nothing holds calls back. */
  rate(): number | null;
  /** How long until a call may go out, when so much goes out before it. */
  wait_ms(cost: number, before?: number): number;
  spend(cost: number): void;
  /** Calls wait for the rate at present: it may be too low. */
  holdsBack(): void;
  /** So much was taken by the node. */
  took(cost: number): void;
  /** So much was too fast. */
  cut(): void;
  /** Nothing was saved up. */
  empty(): void;
}

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
      // What costs more than fits in the bucket goes out when that is full, and the next ones wait for it.
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

/** What was counted in the present second and in the one before. */
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
