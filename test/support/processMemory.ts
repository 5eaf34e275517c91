/** Searches another process's memory, as an intruder would. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const part_bytes = 8 * 1024 * 1024;

/** Returns the texts found anywhere in the process's writable memory, as UTF-8 or UTF-16. */
export function textsIn(pid: number, texts: readonly string[]): ReadonlySet<string> {
  const patterns = texts.flatMap((text) => [
    { text, bytes: Buffer.from(text, 'latin1') },
    { text, bytes: Buffer.from(text, 'utf16le') },
  ]);
  const longest = Math.max(...patterns.map(({ bytes }) => bytes.length));
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(part_bytes + longest);
  try {
    for (const [from, to] of writable(pid)) {
      for (let at = from; at < to; at += part_bytes) {
        const length = readAt(memory, buffer, at, Math.min(part_bytes + longest, to - at));
        for (const { text, bytes } of patterns)
          if (!found.has(text) && buffer.subarray(0, length).includes(bytes)) found.add(text);
      }
    }
  } finally {
    closeSync(memory);
  }
  return found;
}

const writable = (pid: number): readonly (readonly [number, number])[] =>
  readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      return from && to ? [[Number.parseInt(from, 16), Number.parseInt(to, 16)] as const] : [];
    });

/** 0 where a part is not there any more. */
function readAt(memory: number, buffer: Buffer, position: number, length: number): number {
  try {
    return readSync(memory, buffer, 0, length, position);
  } catch {
    return 0;
  }
}
