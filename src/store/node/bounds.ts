/** How much the node takes on of what clients ask for. docs/limits.md lists them. */

/** Parts of one request that become objects. The official client's largest, three MiB of the smallest events, has fewer. */
export const partsMost = 524_288;

/** All of an append: its data, for which EventStoreDB has a bound of its own, and metadata and types as well. */
export const appendMost_bytes = 16 * 1024 * 1024;

/** Appends of one call that are not whole yet. */
export const pendingMost = 1_024;
export const pendingMost_bytes = 64 * 1024 * 1024;
export const pendingMost_ms = 2_000;

/** Changes that wait to be written. */
export const queuedMost = 8_192;
export const queuedMost_bytes = 64 * 1024 * 1024;

/** One page of a read: it ends with the record that reaches the size. A reader that waits holds no more. */
export const pageMost = 256;
export const pageMost_bytes = 262_144;

/** What one call may have waiting for a slow client: beyond either it writes no further message. */
export const unsentMost = 256;
export const unsentMost_bytes = 262_144;

export const prefixesMost = 1_000;

/** Calls that filter by regular expressions at a time, and how long one page may take an expression. */
export const expressionsMost = 16;
export const expressionMost_ms = 2_000;

/** One group commit fits into it several times: the disk is called full before a write fails. */
export const roomLeast_bytes = 32 * 1024 * 1024;

/** How long a node may be busy without an answer before it is killed and started again. */
export const silenceMost_ms = 5_000;
