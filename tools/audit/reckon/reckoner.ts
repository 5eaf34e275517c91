import type { AuditEntry } from '../entry.ts';

/** Checks one stream, event by event. */
export interface Reckoner {
  next(entry: AuditEntry): void;
  end(): void;
}

/** Several checks of the same stream. */
export const together = (...reckoners: readonly Reckoner[]): Reckoner => ({
  next(entry) {
    for (const reckoner of reckoners) reckoner.next(entry);
  },
  end() {
    for (const reckoner of reckoners) reckoner.end();
  },
});
