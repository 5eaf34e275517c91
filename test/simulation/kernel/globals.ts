/** Time and randomness of the runtime itself, replaced during a run: libraries use these and not our ports. */

import { runIn, runningProcess } from './process.ts';
import { theRun } from './run.ts';

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  Date: globalThis.Date,
  random: Math.random,
  now: performance.now.bind(performance),
  timeout: AbortSignal.timeout,
  subtle: crypto.subtle,
};

/** Real time, for rates. */
export const realNow_ms = (): number => real.now();
const begun_ms = Date.UTC(2026, 0, 1);

/** A timer as Node's own are used. */
class Timer {
  callOff: () => void;
  constructor(callOff: () => void) {
    this.callOff = callOff;
  }
  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  [Symbol.dispose](): void {
    this.callOff();
  }
}

function after(run: (...given: never[]) => void, wait_ms = 0, ...given: never[]): Timer {
  const process = runningProcess();
  return new Timer(theRun().agenda.after(wait_ms, () => runIn(process, () => run(...given))));
}

function every(run: (...given: never[]) => void, wait_ms = 0, ...given: never[]): Timer {
  const process = runningProcess();
  const next = () =>
    theRun().agenda.after(Math.max(1, wait_ms), () =>
      runIn(process, () => {
        timer.callOff = next();
        run(...given);
      }),
    );
  const timer = new Timer(next());
  return timer;
}

const callOff = (timer: unknown): void => {
  if (timer instanceof Timer) timer.callOff();
};

class SimulatedDate extends real.Date {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(theRun().agenda.now_ms());
    // Parts of a date are several numbers.
    else super(...(given as [number]));
  }
  static override now(): number {
    return theRun().agenda.now_ms();
  }
}

function timeout(wait_ms: number): AbortSignal {
  const ends = new AbortController();
  after(() => ends.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), wait_ms);
  return ends.signal;
}

/** WebCrypto runs in threads: its answers are used in the order of the calls. */
let asked = 0;
let last: Promise<unknown> = Promise.resolve();
const subtle = new Proxy(real.subtle, {
  get(target, name) {
    const own = Reflect.get(target, name) as unknown;
    if (typeof own !== 'function') return own;
    return (...given: unknown[]) => {
      asked += 1;
      const work = (own.apply(target, given) as Promise<unknown>).finally(() => {
        asked -= 1;
      });
      const turn = Promise.allSettled([last, work]).then(() => work);
      last = turn.catch(() => {});
      return turn;
    };
  },
});

const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
const loop = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

/** Waits until nothing of the program can continue on its own: then only the agenda can wake it. */
export async function quiet(): Promise<void> {
  await tick();
  while (asked > 0) await loop();
}

export function replaceGlobals(): void {
  Object.assign(globalThis, {
    setTimeout: after,
    setInterval: every,
    setImmediate: (run: (...given: never[]) => void, ...given: never[]) => after(run, 0, ...given),
    clearTimeout: callOff,
    clearInterval: callOff,
    clearImmediate: callOff,
    Date: SimulatedDate,
  });
  Math.random = () => theRun().chance.next();
  performance.now = () => theRun().agenda.now_ms() - begun_ms;
  AbortSignal.timeout = timeout;
  Object.defineProperty(crypto, 'subtle', { value: subtle, configurable: true });
  crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
    if (array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      bytes.set(theRun().chance.bytes(bytes.length));
    }
    return array;
  };
}

export function restoreGlobals(): void {
  const { random, now, timeout, subtle: _, ...globals } = real;
  Object.assign(globalThis, globals);
  Math.random = random;
  performance.now = now;
  AbortSignal.timeout = timeout;
}
