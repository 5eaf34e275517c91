/** What the read side's writers need of Postgres. */
export interface Sql {
  /** @throws Unavailable when the database cannot be reached or is overloaded */
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

export interface SqlDatabase extends Sql {
  /** Commits what `work` did, or rolls it back when it throws. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}

/** Names come from our own migrations; quoted all the same. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
