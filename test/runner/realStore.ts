/** Which specs of the real EventStoreDB a run has left out, for a run that must have them all. */
import type { Work } from './shards.ts';
import { needsRealStore } from './specFiles.ts';

/** @returns one sentence for each reason why the run does not count as a run on the real store */
export function missingSpecs(ran: readonly Work[]): readonly string[] {
  const files = ran.filter(({ name }) => needsRealStore(name));
  if (files.length === 0) return ['no spec of the real event store has run'];
  return files.flatMap(({ name, outcomes }) => {
    const skipped = outcomes.filter(({ state }) => state === 'skipped').length;
    return skipped > 0 ? [`${skipped} specs of ${name} were skipped: set EVENTSTOREDB`] : [];
  });
}
