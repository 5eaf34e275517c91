/** Messages between the runner and its shards. */

/** Run a file; or stop what the specs share, and end. */
export type Order = { readonly run: string } | { readonly end: true };

export interface Outcome {
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Includes the titles of the describes around it. */
  readonly title: string;
  /** Why it failed, with the stack. */
  readonly failure?: string;
}

/** Reports each outcome as it occurs, and the end of the file or of the shard. */
export type Word = { readonly outcome: Outcome } | { readonly done: true };

/** Returns an error as text, with its stack and its causes. */
export function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const parts = thrown instanceof AggregateError ? thrown.errors : [];
  const causes = thrown.cause === undefined ? parts : [...parts, thrown.cause];
  return [thrown.stack ?? String(thrown), ...causes.map((cause) => `caused by ${textOf(cause)}`)].join('\n');
}
