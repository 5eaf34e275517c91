/** Postgres as projections and queries use it; src/postgres implements it. */
export interface Sql {
  /** bigint columns arrive as bigint, numeric as text, timestamps as ISO 8601 UTC. @throws Unavailable when the database cannot be reached or is overloaded */
  query<R>(text: string, values?: readonly unknown[], how?: QueryOptions): Promise<readonly R[]>;
}

export interface QueryOptions {
  /** For repeated statements: each connection parses them once. Not for views that may be replaced meanwhile. */
  readonly prepared?: boolean;
}

export interface Committing {
  /** False: no fsync is awaited. A server crash may lose the last commits, in order and never in part. */
  readonly durable?: boolean;
}

export interface SqlDatabase extends Sql {
  /**
   * Commits the work, or rolls it back if it throws. Concurrent statements run in the order of their calls, in one round trip; after a
   * failure the later ones fail too. @throws Unavailable
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, how?: Committing): Promise<T>;
}

/** Names come from our own migrations; quoted for safety. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
