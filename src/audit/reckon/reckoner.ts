import type { Entry } from '../entry.ts';

/** Looks through one stream, event by event. */
export interface Reckoner {
  next(entry: Entry): void;
  end(): void;
}
