/** How `npm run treasury` prints lists. */
import { print, printJson, printTable } from '../print.ts';

export interface Shown {
  readonly json?: boolean;
}

/** On one line per call; big numbers as digits. */
export const json = (value: unknown): void => printJson(value, null);

/**
 * Prints a list: a plain table for people, JSON for programs.
 * @param empty what people are told where there is nothing
 */
export function show(how: Shown, whole: readonly unknown[], lines: object, empty: string): void {
  if (how.json) json(whole);
  else if (whole.length === 0) print(empty);
  else printTable(lines);
}
