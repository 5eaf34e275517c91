/** Kernel of a simulated world, moved by hand: the spec advances time and chooses the faults. */
import type { Kernel, Random } from '../kernel/ports.ts';

export interface ManualKernel extends Kernel {
  /** Everything that is due up to then happens. */
  advance(duration_ms: number): void;
  /** These faults happen whenever they can, until they are cleared. */
  break(...names: readonly string[]): void;
  mend(): void;
}

const begun_ms = Date.UTC(2026, 0, 1);

/** Mulberry32 (Tommy Ettinger). */
function randomOf(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    bytes: (count) => Uint8Array.from({ length: count }, () => below(256)),
    fork: (name) => randomOf(seed + name.length),
  };
}

export function manualKernel(seed = 1): ManualKernel {
  let now_ms = begun_ms;
  let numbered = 0;
  let agenda: { readonly at_ms: number; readonly number: number; readonly run: () => void }[] = [];
  const broken = new Set<string>();

  function nextUntil(end_ms: number) {
    const [next] = agenda
      .filter(({ at_ms }) => at_ms <= end_ms)
      .sort((a, b) => a.at_ms - b.at_ms || a.number - b.number);
    agenda = agenda.filter((each) => each !== next);
    return next;
  }

  return {
    random: randomOf(seed),
    fails: (name) => broken.has(name),
    now_ms: () => now_ms,
    after(wait_ms, run) {
      const entry = { at_ms: now_ms + wait_ms, number: numbered++, run };
      agenda.push(entry);
      return () => {
        agenda = agenda.filter((each) => each !== entry);
      };
    },
    note: () => {},
    advance(duration_ms) {
      const end_ms = now_ms + duration_ms;
      for (let next = nextUntil(end_ms); next; next = nextUntil(end_ms)) {
        now_ms = next.at_ms;
        next.run();
      }
      now_ms = end_ms;
    },
    break: (...names) => {
      for (const name of names) broken.add(name);
    },
    mend: () => broken.clear(),
  };
}
