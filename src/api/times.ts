import { parseInstant } from '../../domain/time.ts';

interface Times {
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

/** Converts a filter's times to UTC with milliseconds, as in rows. */
export function inUtc<F extends Times>(filter: F): F {
  const { createdAfter, createdBefore, updatedAfter } = filter;
  const read = Object.entries({ createdAfter, createdBefore, updatedAfter }).flatMap(([name, text]) => {
    const at = text === undefined ? undefined : parseInstant(text);
    return at === undefined ? [] : [[name, at]];
  });
  return { ...filter, ...Object.fromEntries(read) };
}
