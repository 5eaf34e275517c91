/** Postgres as projections and queries use it; src/postgres implements it. */
export interface Sql {
  /** bigint columns arrive as bigint, numeric as text, timestamps as ISO 8601 UTC. @throws Unavailable when the database cannot be reached or is overloaded */
  query<R>(text: string, values?: readonly unknown[], how?: Asking): Promise<readonly R[]>;
}

export interface Asking {
  /** For statements that come again and again: each connection has them read once. Not for views that may be made anew meanwhile. */
  readonly prepared?: boolean;
}

export interface Committing {
  /** False: no fsync is awaited. A server that crashes may lose the last of what was committed, and what follows it; never a part of one. */
  readonly durable?: boolean;
}

export interface SqlDatabase extends Sql {
  /**
   * Commits what `work` did, or rolls it back when it throws. Statements that are asked for at once are run in that order, in one round
   * trip; once one has failed those behind it fail too. @throws Unavailable
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, how?: Committing): Promise<T>;
}

/** Names come from our own migrations; quoted all the same. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
