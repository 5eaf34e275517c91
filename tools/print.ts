/**
 * All terminal output of the operators' tools: a line break is the tool's own, and other control characters are printed as numbers. Nothing
 * else in tools/ may use the console, which the linter checks.
 */
import { inspect, styleText } from 'node:util';
import { printable, printableJson } from '../src/lib/printable.ts';

/** A mark of the tool itself in a line, in colour if the terminal supports it. */
export interface Mark {
  readonly style: Parameters<typeof styleText>[0];
  readonly text: string;
}

/** One line: text, or its consecutive parts. */
type Line = string | readonly (string | Mark)[];

const partText = (part: string | Mark): string =>
  typeof part === 'string' ? printable(part) : styleText(part.style, printable(part.text));

const lineText = (line: Line): string => (typeof line === 'string' ? printable(line) : line.map(partText).join(''));

/** Each argument is a line. */
export const print = (...lines: readonly Line[]): void => console.log(lines.map(lineText).join('\n'));

/** The same on the error stream. */
export const printError = (...lines: readonly string[]): void => console.error(lines.map(printable).join('\n'));

/** Prints an error: any message is one line; a multi-line error has `lines`. */
export function printFailure(error: unknown): void {
  printError(...failureLines(error));
}

function failureLines(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  return 'lines' in error && Array.isArray(error.lines) ? error.lines.map(String) : [error.message];
}

/** For programs; amounts are digits. @param space as of JSON.stringify: null for one line */
export const printJson = (value: unknown, space: number | null = 2): void =>
  console.log(printableJson(jsonText(value, space)));

const jsonText = (value: unknown, space: number | null): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part), space ?? undefined);

/** @param rows by name, or in order; keys and cells may be foreign text */
export const printTable = (rows: object): void =>
  console.table(Array.isArray(rows) ? rows.map(rowOf) : mapped(rows, rowOf));

const rowOf = (row: unknown): object => mapped(row as object, (cell) => new Cell(cell));

const mapped = (record: object, value: (each: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(record).map(([key, each]) => [printable(key), value(each)]));

/** Printed by the console unchanged: it would otherwise escape the backslashes of escaped text. */
class Cell {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  [inspect.custom](): string {
    if (typeof this.#value === 'string') return `'${printable(this.#value)}'`;
    return printable(inspect(this.#value, { breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 3, depth: 1 }));
  }
}

// Prints the lists of `npm run treasury`.

export interface ListFormat {
  readonly json?: boolean;
}

/** On one line per call; big numbers as digits. */
export const json = (value: unknown): void => printJson(value, null);

/**
 * Prints a list: a plain table for people, JSON for programs.
 * @param empty text for people if there are no entries
 */
export function printList(how: ListFormat, whole: readonly unknown[], lines: object, empty: string): void {
  if (how.json) json(whole);
  else if (whole.length === 0) print(empty);
  else printTable(lines);
}
