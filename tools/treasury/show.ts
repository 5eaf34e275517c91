/** Prints the lists of `npm run treasury`. */
import { print, printJson, printTable } from '../print.ts';

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
