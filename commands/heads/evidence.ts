/**
 * Evidence of one stream: its stored events, the Merkle proof to the newest head's root, and the head. clients/verify/verify-evidence.mjs
 * checks it independently. The head's signature proves every byte of it.
 */
import { type Refusal, refuse, type StoredEvent } from '../../domain/decider.ts';
import type { HeadSigned } from '../../domain/heads/heads.ts';
import { linkOf } from '../codec.ts';
import { readStream } from '../handle.ts';
import { Unavailable } from '../ports.ts';
import { type HeadsReading, newestHead } from './sign.ts';
import { findInTree, isUnder, loadTopLevels, type TopLevels, type TreeStore, type Way } from './tree.ts';

export interface EvidenceDeps extends HeadsReading {
  readonly tree: Pick<TreeStore, 'progress' | 'parts' | 'leavesIn'>;
}

/** Proof of a stream's events up to the newest head. */
export interface Proven {
  readonly stream: string;
  readonly events: readonly StoredEvent[];
  readonly way: Way;
  readonly head: HeadSigned;
}

export type FindEvidence = (stream: string) => Promise<Proven | Refusal>;

export const evidenceFormat = 'payment-intents evidence v1';

/** Attempts: a new head may be signed during the read, which changes the tree. */
const tries = 5;

/** Keeps the tree's top levels in memory from head to head. */
export function createFindEvidence(deps: EvidenceDeps): FindEvidence {
  let known: { readonly position: string; readonly crown: Promise<TopLevels> } | null = null;

  function crownOf({ position }: HeadSigned): Promise<TopLevels> {
    if (known?.position === position) return known.crown;
    const crown = loadTopLevels(deps.tree);
    known = { position, crown };
    // A failed read is not cached.
    crown.catch(() => {
      if (known?.crown === crown) known = null;
    });
    return crown;
  }

  return async (stream) => {
    for (let tried = 0; tried < tries; tried += 1) {
      const head = await newestHead(deps);
      if (head === null) return refuse('notFound', 'no log head is signed yet: try again in a few minutes');
      const progress = await deps.tree.progress();
      if (progress?.position === BigInt(head.position)) {
        const found = await findInTree(deps.tree, await crownOf(head), stream);
        const proven = found && (await provenBy(stream, found.leaf.revision, found.way, head));
        if (proven) return proven;
        if (!found && (await deps.tree.progress())?.position === progress.position) return tooNew;
      }
      known = null;
    }
    throw new Unavailable('a head is being signed: try again');
  };

  async function provenBy(stream: string, revision: bigint, way: Way, head: HeadSigned): Promise<Proven | null> {
    const events = await readStream(deps.store, stream, { before: revision + 1n });
    const last = events.at(-1);
    const isThere = last?.revision === revision && isUnder(head.root, { stream, revision, link: linkOf(last) }, way);
    return isThere ? { stream, events, way, head } : null;
  }
}

const tooNew = refuse('notFound', 'no signed log head covers the payment yet: try again in a few minutes');

/**
 * The pack as a file. An event contains the inputs of its hash: id, type, data and metadata as stored bytes, without the seal, which proves
 * nothing without the key.
 */
export const packOf = ({ stream, events, way, head }: Proven): string =>
  `${JSON.stringify({ format: evidenceFormat, stream, events: events.map(bare), way, head: { type: 'HeadSigned', data: head } }, null, 2)}\n`;

function bare({ id, type, data, metadata: { seal: _, ...metadata } }: StoredEvent) {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}
