/** The shop's book: a file of JSON lines, each on disk before the shop continues. A kill leaves whole lines, and at most a half one at the end. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import { type Book, type Entry, emptyBook, evolve } from './orders.ts';

/** Maximum size of a shop for trials: beyond it the shop accepts no orders and changes, and the file must be set aside. */
const entriesMax = 20_000;

export interface OpenBook {
  now(): Book;
  /** False if the book is full: then nothing was written. Results of existing orders still find room. */
  write(entry: Entry): boolean;
}

export function openBook(file: string): OpenBook {
  const whole = existsSync(file) ? wholeLines(readFileSync(file, 'utf8')) : '';
  // A line that a kill truncated was never answered.
  writeWhole(file, whole);
  const entries = whole.split('\n').filter(Boolean);
  let count = entries.length;
  let book = entries.map((line) => JSON.parse(line) as Entry).reduce(evolve, emptyBook);
  return {
    now: () => book,
    write(entry) {
      const asksForMore = entry.type === 'OrderPlaced' || entry.type === 'LearningSet';
      if (asksForMore && count >= entriesMax) return false;
      const descriptor = openSync(file, 'a', 0o600);
      try {
        writeSync(descriptor, `${JSON.stringify(entry)}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      count += 1;
      book = evolve(book, entry);
      return true;
    },
  };
}

const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1);
