/** Simulated time: pending events in order. Two events of one moment keep their order of scheduling. */

interface Entry {
  readonly at_ms: number;
  readonly number: number;
  run: (() => void) | null;
}

export interface Agenda {
  now_ms(): number;
  /** @returns what calls it off */
  after(wait_ms: number, run: () => void): () => void;
  /** Takes the next event and advances time to it; undefined if there is none up to `until_ms`. */
  next(until_ms: number): (() => void) | undefined;
}

const isBefore = (a: Entry, b: Entry): boolean => a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.number < b.number);

export function createAgenda(start_ms: number): Agenda {
  let now_ms = start_ms;
  let numbered = 0;
  /** A binary heap. */
  const heap: Entry[] = [];

  function add(entry: Entry): void {
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (!parent || isBefore(parent, entry)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = entry;
  }

  function takeFirst(): void {
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (!a) break;
      const least = b && isBefore(b, a) ? b : a;
      if (isBefore(last, least)) break;
      heap[at] = least;
      at = least === a ? left : left + 1;
    }
    heap[at] = last;
  }

  return {
    now_ms: () => now_ms,
    after(wait_ms, run) {
      // A cancelled event stays in the agenda until its time, without its effect.
      const entry: Entry = { at_ms: now_ms + Math.max(0, wait_ms || 0), number: numbered++, run };
      add(entry);
      return () => {
        entry.run = null;
      };
    },
    next(until_ms) {
      for (let first = heap[0]; first && first.at_ms <= until_ms; first = heap[0]) {
        takeFirst();
        const { run } = first;
        if (run === null) continue;
        now_ms = first.at_ms;
        return run;
      }
      return undefined;
    },
  };
}
