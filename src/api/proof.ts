import { eventCodec } from '../../commands/codec.ts';
import { createFindEvidence, type EvidenceDeps } from '../../commands/heads/evidence.ts';
import { headKeysSince } from '../../commands/heads/headKeys.ts';
import { entriesFrom, newestEntry } from '../../commands/heads/newest.ts';
import type { Core } from '../core.ts';
import { createHeadTree } from '../postgres/headTree.ts';
import type { ProofDeps } from './deps.ts';

/** What anybody may read of heads, and evidence of payments. */
export function proofOf({ store, writes }: Pick<Core, 'store' | 'writes'>): ProofDeps {
  const reading: EvidenceDeps = { store, codec: eventCodec, tree: createHeadTree(writes) };
  return {
    newest: () => newestEntry(reading),
    entries: (from, max) => entriesFrom(reading, from, max),
    keys: () => headKeysSince(reading),
    evidence: createFindEvidence(reading),
  };
}
