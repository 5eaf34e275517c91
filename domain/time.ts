/** A moment in UTC as ISO 8601 with milliseconds, `2026-11-21T09:00:00.000Z`. Text order is time order. */
export type Instant = string & { readonly __brand: 'Instant' };

export const minute_ms = 60_000;
export const hour_ms = 60 * minute_ms;
export const day_ms = 24 * hour_ms;

/** @param epoch_ms milliseconds since 1970-01-01 UTC */
export const instant = (epoch_ms: number): Instant => new Date(epoch_ms).toISOString() as Instant;

/** Date, time and offset: the machine's time zone never matters, and every instant has 24 characters. */
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

/** Years that Postgres and four digits can hold. */
const first_ms = Date.parse('0001-01-01T00:00:00.000Z');
const last_ms = Date.parse('9999-12-31T23:59:59.999Z');

/** Reads an ISO 8601 date and time with its offset, cut to milliseconds. Returns undefined for other texts and for years outside 1 to 9999. */
export function parseInstant(text: string): Instant | undefined {
  const epoch_ms = isoTime.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return epoch_ms >= first_ms && epoch_ms <= last_ms ? instant(epoch_ms) : undefined;
}

export const epochMs = (at: Instant): number => Date.parse(at);

export const plus = (at: Instant, duration_ms: number): Instant => instant(epochMs(at) + duration_ms);

export const isAfter = (a: Instant, b: Instant): boolean => a > b;
