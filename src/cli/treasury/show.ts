/** How lists are shown: a plain table to people, JSON to machines. */

export interface Shown {
  readonly json?: boolean;
}

/** On one line per call; big numbers as digits. */
export const json = (value: unknown): void =>
  console.log(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part)));

/** @param empty what people are told where there is nothing */
export function show(how: Shown, whole: readonly unknown[], lines: object, empty: string): void {
  if (how.json) json(whole);
  else if (whole.length === 0) console.log(empty);
  else console.table(lines);
}
