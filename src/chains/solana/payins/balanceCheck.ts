/** Decides whether a full read is worth its calls. While nothing changes, most polls only check the deposits' balances. */

import { higher } from '../../../lib/concurrency.ts';
import type { Watch } from '../../family.ts';
import { slotOf } from '../reads.ts';
import type { SolanaRpc } from '../rpc.ts';
import type { LookedAsOf } from './look.ts';
import type { Memory } from './memory.ts';
import { balancesOfOwners, type TokenAccountAddresses } from './tokenAccounts.ts';

/** A pass advances at least every ten seconds or so, even without payins, so payments can expire. */
const movesEvery_slots = 25n;
/** Maximum consecutive polls without a full read of the final pass. */
const restsMax = 10;
/** Full reads after a payin becomes final at one node: other nodes may follow a little later. */
const looksAfterPayin = 15;
/** Maximum consecutive balance checks without a newer slot before the other nodes are queried. */
const standsMax = 3;
/** With this many open deposits, each poll is a full read of some of them in turn. */
export const glanceMax = 400;

/** State of a pass since its last full read. */
export interface Since {
  /** Its own slot, and the head's at that time. */
  newest: bigint;
  headThen: bigint;
  /** Polls without a full read. */
  rests: number;
  /** Full reads that are due regardless of balances. */
  looksDue: number;
  /** Newest slot of a balance check, and the number of checks without progress. */
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
  readonly accountsOf: TokenAccountAddresses;
  readonly memory: Memory;
  readonly asOf: LookedAsOf;
}

/**
 * For the head pass, or a pass without one before it: any deposit may have been paid. A stalled node reveals nothing, so it is trusted only
 * for a while. @throws ChainUnavailable
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
  const changed = await rpc.firstAnswer(async (node) => {
    const { slot, held } =
      addresses.length === 0
        ? { slot: await slotOf(node, commitment, minContextSlot), held: [] }
        : await balancesOfOwners(node, addresses, accountsOf, asOf);
    if (slot - since.newest >= movesEvery_slots || memory.changed(held, minContextSlot).length > 0) return true;
    return glanced(since, slot) ? false : undefined;
  }, signal);
  return changed ?? false;
}

/** @returns true if the node advances, as far as is known */
function glanced(since: Since, slot: bigint): boolean {
  since.stands = slot > since.glanced ? 0 : since.stands + 1;
  since.glanced = higher(since.glanced, slot);
  return since.stands < standsMax;
}

/**
 * For the final pass: newer payins are among those of the head pass, or found after its next full read. While any is not final, the pass
 * advances: a payin that it passes without finding has left the chain.
 */
export const finalDue = ({ looksDue, headThen, rests }: Since, head: Since, hot: readonly string[]): boolean =>
  looksDue > 0 || headThen !== head.newest || rests >= restsMax || hot.length > 0;

/** Owners that are read first, for a while. */

interface HotOptions {
  /** Slots for which they stay first. */
  readonly for_slots: bigint;
  /** Maximum; further ones are dropped. */
  readonly max: number;
}

export type PrioritizedOwners = ReturnType<typeof createPrioritizedOwners>;

export function createPrioritizedOwners({ for_slots, max: hotMax }: HotOptions) {
  /** Owners with the slot of their notification. */
  const seen = new Map<string, bigint>();
  return {
    add(owners: readonly string[], slot: bigint): void {
      for (const owner of owners) if (seen.size < hotMax) seen.set(owner, slot);
    },
    remove(owners: readonly string[]): void {
      for (const owner of owners) seen.delete(owner);
    },
    /** Moves owners that were read in vain after the others. */
    putBack(owners: readonly string[]): void {
      for (const owner of owners) {
        const slot = seen.get(owner);
        if (slot !== undefined && seen.delete(owner)) seen.set(owner, slot);
      }
    },
    /** @param slot current slot of the pass */
    of(slot: bigint, max: number): readonly string[] {
      for (const [owner, at] of seen) if (slot - at > for_slots) seen.delete(owner);
      return [...seen.keys()].slice(0, max);
    },
  };
}
