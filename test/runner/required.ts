/** Specs of real servers that a run has skipped although it must run all of them. */
import type { Work } from './shards.ts';

/** Specs of one kind of server that is not part of the project. */
export interface RealServer {
  /** For a sentence: `the real event store`. */
  readonly name: string;
  /** Variables that name its start programs. */
  readonly variables: string;
  /** Returns true for a spec file that needs it. */
  readonly isNeededBy: (file: string) => boolean;
}

export const realStore: RealServer = {
  name: 'the real event store',
  variables: 'EVENTSTOREDB',
  isNeededBy: (file) => /(^|\/)test\/realStore\//.test(file),
};

export const realNodes: RealServer = {
  name: 'real chain nodes',
  variables: 'GETH, SOLANA and STELLAR',
  isNeededBy: (file) => /(^|\/)test\/realChains\//.test(file),
};

/** Returns one sentence for each reason why the run does not count as a run on these servers. */
export function missingSpecs(ran: readonly Work[], { name, variables, isNeededBy }: RealServer): readonly string[] {
  const files = ran.filter((work) => isNeededBy(work.name));
  if (files.length === 0) return [`no spec of ${name} has run`];
  return files.flatMap((work) => {
    const skipped = work.outcomes.filter(({ state }) => state === 'skipped').length;
    return skipped > 0 ? [`${skipped} specs of ${work.name} were skipped: set ${variables}`] : [];
  });
}
