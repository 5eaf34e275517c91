/** What the runner and its shards say to each other. */

/** Run a file; or stop what the specs share, and end. */
export type Order = { readonly run: string } | { readonly end: true };

export interface Outcome {
  readonly state: 'passed' | 'failed' | 'skipped';
  /** With the titles around it. */
  readonly title: string;
  /** Why it failed, with the stack. */
  readonly failure?: string;
}

/** Each outcome as it comes, and that the file, or the shard, has come to its end. */
export type Word = { readonly outcome: Outcome } | { readonly done: true };

/** An error as a reader wants it: with its stack, and those that caused it. */
export function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const parts = thrown instanceof AggregateError ? thrown.errors : [];
  const causes = thrown.cause === undefined ? parts : [...parts, thrown.cause];
  return [thrown.stack ?? String(thrown), ...causes.map((cause) => `caused by ${textOf(cause)}`)].join('\n');
}
