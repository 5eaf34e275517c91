/** Postgres as projections and queries use it; src/postgres implements it. */
export interface Sql {
  /** bigint columns arrive as bigint, numeric as text, timestamps as ISO 8601 UTC. @throws Unavailable when the database cannot be reached or is overloaded */
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

export interface SqlDatabase extends Sql {
  /** Commits what `work` did, or rolls it back when it throws. @throws Unavailable */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}

/** Names come from our own migrations; quoted all the same. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
