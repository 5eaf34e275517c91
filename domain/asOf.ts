/** A moment in the log: everything up to it has happened, and nothing after it. */
import type { StoredEvent } from './decider.ts';
import { type Instant, parseInstant } from './time.ts';

/** A position in the log, or a time. Both ends are inclusive. */
export type AsOf = { readonly position: bigint } | { readonly time: Instant };

/** EventStoreDB counts positions in 64 bits. */
const positionMax = 2n ** 63n;
/** Times are compared as texts: those of year 10000 are longer. */
const timeLength = '2026-11-21T09:00:00.000Z'.length;

/** @param text a position in digits, or an ISO 8601 time with its offset; @returns undefined when it is neither */
export function parseAsOf(text: string): AsOf | undefined {
  if (/^\d{1,19}$/.test(text)) return BigInt(text) < positionMax ? { position: BigInt(text) } : undefined;
  const time = parseInstant(text);
  return time?.length === timeLength ? { time } : undefined;
}

export const asOfText = (asOf: AsOf): string => ('position' in asOf ? `position ${asOf.position}` : asOf.time);

export const isUpTo = ({ position, metadata }: Pick<StoredEvent, 'position' | 'metadata'>, asOf: AsOf): boolean =>
  'position' in asOf ? position <= asOf.position : metadata.at <= asOf.time;

/** Returns a stream's events up to the first later one, so clocks that disagree leave no gap. */
export function upTo<E extends Pick<StoredEvent, 'position' | 'metadata'>>(
  events: readonly E[],
  asOf: AsOf,
): readonly E[] {
  const end = events.findIndex((stored) => !isUpTo(stored, asOf));
  return end < 0 ? events : events.slice(0, end);
}
