/** Appends entries of `heads-log`. Whatever a head says follows from the log alone: two who sign for a position sign the same bytes. */
import { type Decision, isRefusal, type Refusal } from '../../domain/decider.ts';
import { type HeadSigned, type HeadsEvent, headsInstance } from '../../domain/heads/events.ts';
import { changeHeadKey, heads, signHead } from '../../domain/heads/heads.ts';
import type { Handle } from '../handle.ts';
import { hashOfHead } from './chain.ts';
import { coveredCategories } from './covered.ts';
import type { HeadKey } from './keys.ts';
import { type Progress, TreeMoved } from './treeStore.ts';

export interface HeadKeys {
  readonly current: HeadKey;
  /** What heads may have been signed with before, and can still sign that another key follows. */
  readonly former: readonly HeadKey[];
  /** The operator's word that the former key is lost, and why; null where it is not. */
  readonly lost: string | null;
}

/** Heads were signed with a key that nobody has given. */
export class HeadKeyMissing extends Error {
  override readonly name = 'HeadKeyMissing';
  constructor(publicKey: string) {
    super(
      `heads are signed with key ${publicKey}, and none of that is here: set HEADS_KEY_OLD to it, so that it signs for the new one (docs/evidence.md, "Another key")`,
    );
  }
}

const facts = { cause: 'worker:heads', appId: null } as const;

/**
 * @returns the head of that position, new or signed before
 * @throws HeadKeyMissing, TreeMoved when somebody has signed for a later position, Unavailable
 */
export async function appendHead(
  handle: Handle,
  keys: HeadKeys,
  progress: Progress,
  root: string,
): Promise<HeadSigned> {
  const { current } = keys;
  await followKey(handle, keys);
  const head = {
    position: progress.position.toString(),
    until: progress.until,
    events: progress.events.toString(),
    streams: progress.streams.toString(),
    categories: [...coveredCategories],
    root,
    publicKey: current.publicKey,
  };
  const newest = await decided(handle, (entry) => signHead(entry, head, { hashOf: hashOfHead, sign: current.sign }));
  if (newest?.type !== 'HeadSigned' || newest.data.position !== head.position || newest.data.root !== root)
    throw new TreeMoved();
  return newest.data;
}

/** The key of before, whichever it was, says that this one follows. */
export async function followKey(handle: Handle, { current, former, lost }: HeadKeys): Promise<void> {
  await decided(handle, (newest) => {
    if (newest === null || newest.data.publicKey === current.publicKey) return [];
    const before = former.find(({ publicKey }) => publicKey === newest.data.publicKey);
    if (!before && lost === null) throw new HeadKeyMissing(newest.data.publicKey);
    const how = { hashOf: hashOfHead, sign: current.sign, former: before ?? { lost: lost ?? '' } };
    return changeHeadKey(newest, current.publicKey, how);
  });
}

async function decided(
  handle: Handle,
  decide: (newest: HeadsEvent | null) => Decision<HeadsEvent>,
): Promise<HeadsEvent | null> {
  const entry = await appendEntry(handle, decide);
  if (isRefusal(entry)) throw new Error(entry.message);
  return entry;
}

/** @returns the newest entry then */
export async function appendEntry(
  handle: Handle,
  decide: (newest: HeadsEvent | null) => Decision<HeadsEvent>,
): Promise<HeadsEvent | null | Refusal> {
  const handled = await handle(heads, headsInstance, decide, facts);
  return isRefusal(handled) ? handled : handled.state;
}
