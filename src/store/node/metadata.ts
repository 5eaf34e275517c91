/** A stream's metadata: the last event of its metadata stream `$$<stream>`. */

/** 2^63 - 1: as `$tb` it marks a soft-deleted stream, as a revision the tombstone. */
export const int64Max = 9_223_372_036_854_775_807n;

/** Metadata that affects how the stream is read. */
export interface StreamMetadata {
  readonly maxCount?: number;
  readonly maxAge_s?: number;
  /** `$tb`: events before this revision are hidden. */
  readonly truncateBefore?: number;
  readonly softDeleted?: boolean;
}

export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
export const metastreamOf = (stream: string): string => `$$${stream}`;
export const ownerOf = (metastream: string): string => metastream.slice(2);

export const softDelete = Buffer.from(`{"$tb":${int64Max}}`);

/** An integer in its JSON spelling, so that 2^63 - 1 is not rounded. */
const exact = (_key: string, value: unknown, context?: { source: string }): unknown =>
  typeof value === 'number' && context && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

/**
 * Reads the metadata from the last event of a metadata stream. A wrong type or an integer beyond 64 bits voids all of it, as does content
 * that is not JSON.
 */
export function parseMetadata(data: Uint8Array, json: boolean): StreamMetadata {
  if (!json) return {};
  try {
    const raw: unknown = JSON.parse(Buffer.from(data).toString('utf8'), exact as Reviver);
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {};
    const integer = (key: string, least: bigint): bigint | undefined => {
      const value: unknown = (raw as Record<string, unknown>)[key];
      if (value === undefined || value === null) return undefined;
      if (typeof value !== 'bigint' || value > int64Max || value < -int64Max - 1n) throw new TypeError(key);
      return value < least ? undefined : value;
    };
    const [maxCount, maxAge, tb] = [integer('$maxCount', 1n), integer('$maxAge', 1n), integer('$tb', 0n)];
    return {
      ...(maxCount !== undefined && { maxCount: Number(maxCount) }),
      ...(maxAge !== undefined && { maxAge_s: Number(maxAge) }),
      ...(tb !== undefined && { truncateBefore: Number(tb) }),
      ...(tb === int64Max && { softDeleted: true }),
    };
  } catch {
    return {};
  }
}

/** The same metadata with another `$tb`: the server writes it when a soft-deleted stream is written to again. */
export function withTruncateBefore(data: Uint8Array, revision: number): Buffer {
  let raw: unknown = {};
  try {
    raw = JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    // Content other than JSON is dropped.
  }
  return Buffer.from(JSON.stringify({ ...(raw as object), $tb: revision }));
}

/** First revision that a reader of the stream may see. For a metadata stream that is always the last one. */
export function firstVisible(stream: string, last: number, { maxCount, truncateBefore = 0 }: StreamMetadata): number {
  if (isMetastream(stream)) return Math.max(0, last);
  return Math.max(0, maxCount === undefined ? 0 : last - maxCount + 1, truncateBefore);
}
