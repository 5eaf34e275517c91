/** Whether a look is worth its calls. While nothing changes, most polls are a glance: what deposits hold, and nothing else. */

import { higher } from '../../../lib/inParallel.ts';
import type { Watch } from '../../family.ts';
import { slotOf } from '../reads.ts';
import type { SolanaRpc } from '../rpc.ts';
import type { LookedAsOf } from './look.ts';
import type { Memory } from './memory.ts';
import { type AddressBook, heldBy } from './tokenAccounts.ts';

/** A pass moves at least so often, ten seconds or so, though nothing is paid: what it has come past may end. */
const movesEvery_slots = 25n;
/** So many polls in a row may go by without a look of the final pass. */
const restsMax = 10;
/** After a payin was final in a node's eyes, so many looks follow: other nodes may say so a little later. */
const looksAfterPayin = 15;
/** So many glances in a row may show the same slot, or an earlier one, before the other nodes are asked. */
const standsMax = 3;
/** With so many open deposits or more, each poll is a look, which reads some of them in turn. */
export const glanceMax = 400;

/** What has become of a pass since its last look. */
export interface Since {
  /** Its own slot, and the head's then. */
  newest: bigint;
  headThen: bigint;
  /** Polls without a look. */
  rests: number;
  /** Looks that are due whatever a glance shows. */
  looksDue: number;
  /** The newest slot that a glance has shown, and how many glances came no further. */
  glanced: bigint;
  stands: number;
}

export const noLook = (): Since => ({ newest: -1n, headThen: -1n, rests: 0, looksDue: 0, glanced: -1n, stands: 0 });

export function looked(since: Since, slot: bigint, head: Since | undefined): void {
  const looksDue = Math.max(0, since.looksDue - 1);
  Object.assign(since, { newest: slot, headThen: head?.newest ?? -1n, rests: 0, looksDue });
}

export const payinSeen = (since: Since): void => {
  since.looksDue = looksAfterPayin;
};

export interface Glancing {
  readonly accountsOf: AddressBook;
  readonly memory: Memory;
  readonly asOf: LookedAsOf;
}

/**
 * Of the head pass, or of one that has no head pass before it: anything may have been paid. A node that stands still shows nothing of it: it
 * is no answer for long. @throws ChainUnavailable
 */
export async function openChanged(
  rpc: SolanaRpc,
  open: Watch['open'],
  since: Since,
  { accountsOf, memory, asOf }: Glancing,
  signal: AbortSignal,
): Promise<boolean> {
  const owners = await open({ after: null, max: glanceMax }, signal);
  if (owners.length === glanceMax) return true;
  const addresses = owners.map(({ address }) => address);
  const { commitment, minContextSlot } = asOf;
  const changed = await rpc.first(async (node) => {
    const { slot, held } =
      addresses.length === 0
        ? { slot: await slotOf(node, commitment, minContextSlot), held: [] }
        : await heldBy(node, addresses, accountsOf, asOf);
    if (slot - since.newest >= movesEvery_slots || memory.changed(held, minContextSlot).length > 0) return true;
    return glanced(since, slot) ? false : undefined;
  }, signal);
  return changed ?? false;
}

/** @returns whether the node moves, as far as is known */
function glanced(since: Since, slot: bigint): boolean {
  since.stands = slot > since.glanced ? 0 : since.stands + 1;
  since.glanced = higher(since.glanced, slot);
  return since.stands < standsMax;
}

/**
 * Of the final pass: what was paid since is among what the head pass has seen, or is found when that has looked. While anything of that is
 * not final, the pass moves: what it comes past and does not find has left the chain.
 */
export const finalDue = ({ looksDue, headThen, rests }: Since, head: Since, hot: readonly string[]): boolean =>
  looksDue > 0 || headThen !== head.newest || rests >= restsMax || hot.length > 0;

/** Owners that looks begin with, for a while. */

interface HotOptions {
  /** They stay for so long. */
  readonly for_slots: bigint;
  /** Beyond so many, more are passed over. */
  readonly max: number;
}

export type Hot = ReturnType<typeof createHot>;

export function createHot({ for_slots, max: hotMax }: HotOptions) {
  /** With the slot in which they were seen. */
  const seen = new Map<string, bigint>();
  return {
    add(owners: readonly string[], slot: bigint): void {
      for (const owner of owners) if (seen.size < hotMax) seen.set(owner, slot);
    },
    remove(owners: readonly string[]): void {
      for (const owner of owners) seen.delete(owner);
    },
    /** Those that were looked at in vain come after the others from now on. */
    putBack(owners: readonly string[]): void {
      for (const owner of owners) {
        const slot = seen.get(owner);
        if (slot !== undefined && seen.delete(owner)) seen.set(owner, slot);
      }
    },
    /** @param slot where the pass stands */
    of(slot: bigint, max: number): readonly string[] {
      for (const [owner, at] of seen) if (slot - at > for_slots) seen.delete(owner);
      return [...seen.keys()].slice(0, max);
    },
  };
}
