/**
 * Sorts more than memory holds: records are written to files in sorted runs, which are merged when read. A run is on disk before `add`
 * continues, so a caller who records the runs can continue after a crash.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Record<T> {
  readonly key: string;
  readonly value: T;
}

export interface Spill<T> {
  add(key: string, value: T): void;
  /** Writes the records in memory. @returns the files of all runs so far */
  flush(): readonly string[];
  /** In the order of keys; equal keys in the order of `add`. */
  sorted(): Iterable<Record<T>>;
}

export interface SpillOptions {
  readonly directory: string;
  readonly name: string;
  /** Maximum characters in memory. */
  readonly held?: number;
  /** Runs of an earlier process. */
  readonly runs?: readonly string[];
}

const heldDefault = 8_000_000;
/** Maximum open files of a merge; then the runs become one. */
const runsMax = 48;
const chunk_bytes = 128 * 1024;

export function createSpill<T>({ directory, name, held = heldDefault, runs: known = [] }: SpillOptions): Spill<T> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const runs = [...known];
  let waiting: (readonly [string, string])[] = [];
  let size = 0;
  let number = runs.reduce((most, run) => Math.max(most, Number(/-(\d+)$/.exec(run)?.[1] ?? 0)), 0);

  function nextRun(): string {
    number += 1;
    return `${name}-${number}`;
  }
  function flush(): readonly string[] {
    if (waiting.length > 0) {
      const sorted = waiting.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      const run = nextRun();
      writeRun(join(directory, run), sorted.values());
      runs.push(run);
      [waiting, size] = [[], 0];
    }
    if (runs.length >= runsMax) {
      const run = nextRun();
      writeRun(join(directory, run), mergeLines(runs.map((each) => join(directory, each))));
      for (const old of runs.splice(0, runs.length, run)) rmSync(join(directory, old), { force: true });
    }
    return [...runs];
  }
  return {
    add(key, value) {
      const text = JSON.stringify(value);
      waiting.push([key, text]);
      size += key.length + text.length + 64;
      if (size >= held) flush();
    },
    flush,
    *sorted() {
      flush();
      for (const [key, text] of mergeLines(runs.map((each) => join(directory, each))))
        yield { key, value: JSON.parse(text) as T };
    },
  };
}

/** Key and value are JSON, which contains neither tabs nor line ends. */
function writeRun(file: string, lines: Iterable<readonly [string, string]>): void {
  const handle = openSync(`${file}.part`, 'w', 0o600);
  try {
    let buffered: string[] = [];
    let size = 0;
    const write = () => {
      const bytes = Buffer.from(buffered.join(''));
      for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
      [buffered, size] = [[], 0];
    };
    for (const [key, text] of lines) {
      const line = `${JSON.stringify(key)}\t${text}\n`;
      buffered.push(line);
      size += line.length;
      if (size >= 8 * chunk_bytes) write();
    }
    write();
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.part`, file);
}

function* readRun(file: string): Generator<readonly [string, string]> {
  const handle = openSync(file, 'r');
  const chunk = Buffer.alloc(chunk_bytes);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for (;;) {
      const length = readSync(handle, chunk, 0, chunk_bytes, null);
      if (length === 0) return;
      const bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      const end = bytes.lastIndexOf(10);
      rest = bytes.subarray(end + 1);
      if (end < 0) continue;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) {
        const tab = line.indexOf('\t');
        yield [JSON.parse(line.slice(0, tab)) as string, line.slice(tab + 1)];
      }
    }
  } finally {
    closeSync(handle);
  }
}

interface Source {
  readonly at: number;
  readonly lines: Iterator<readonly [string, string]>;
  line: readonly [string, string];
}

/** Runs in the order of writing, so equal keys keep their order. */
function* mergeLines(files: readonly string[]): Generator<readonly [string, string]> {
  const heap: Source[] = [];
  try {
    for (const [at, file] of files.entries()) {
      const lines = readRun(file);
      const first = lines.next();
      if (!first.done) push(heap, { at, lines, line: first.value });
    }
    for (let least = heap[0]; least !== undefined; least = heap[0]) {
      yield least.line;
      const next = least.lines.next();
      if (next.done) {
        const last = heap.pop();
        if (last && last !== least) sink(heap, last);
      } else {
        least.line = next.value;
        sink(heap, least);
      }
    }
  } finally {
    for (const { lines } of heap) lines.return?.();
  }
}

const isBefore = (a: Source, b: Source): boolean => a.line[0] < b.line[0] || (a.line[0] === b.line[0] && a.at < b.at);

function push(heap: Source[], source: Source): void {
  let at = heap.push(source) - 1;
  for (let above = (at - 1) >> 1; at > 0; above = (at - 1) >> 1) {
    const other = heap[above];
    if (other === undefined || !isBefore(source, other)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = source;
}

/** Moves an element from the top of the heap to its position. */
function sink(heap: Source[], source: Source): void {
  let at = 0;
  for (;;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
    const goesRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = goesRight ? right : left;
    if (child === undefined || isBefore(source, child)) break;
    heap[at] = child;
    at = 2 * at + (goesRight ? 2 : 1);
  }
  heap[at] = source;
}

/** Records of two spills in one order, grouped by key. */
export function* groupedByKey<T>(...spills: readonly Spill<T>[]): Generator<readonly T[]> {
  const sides = spills
    .map((spill) => spill.sorted()[Symbol.iterator]())
    .map((records) => ({ records, next: records.next() }));
  for (;;) {
    const [least] = sides.flatMap(({ next }) => (next.done ? [] : [next.value.key])).toSorted();
    if (least === undefined) return;
    const group: T[] = [];
    for (const side of sides) {
      for (; !side.next.done && side.next.value.key === least; side.next = side.records.next())
        group.push(side.next.value.value);
    }
    yield group;
  }
}
