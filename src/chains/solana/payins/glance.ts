/** Whether a look is worth its calls. While nothing changes, most polls are a glance: what deposits hold, and nothing else. */
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
/** With more open deposits than these, each poll is a look. */
const glanceMax = 1_000;

/** What has become of a pass since its last look. */
export interface Since {
  /** Its own slot, and the head's then. */
  newest: bigint;
  headThen: bigint;
  /** Polls without a look. */
  rests: number;
  /** Looks that are due whatever a glance shows. */
  looksDue: number;
}

export const noLook = (): Since => ({ newest: -1n, headThen: -1n, rests: 0, looksDue: 0 });

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

/** Of the head pass, or of one that has no head pass before it: anything may have been paid. @throws ChainUnavailable */
export async function openChanged(
  rpc: SolanaRpc,
  open: Watch['open'],
  { newest }: Since,
  { accountsOf, memory, asOf }: Glancing,
  signal: AbortSignal,
): Promise<boolean> {
  const owners = await open({ after: null, max: glanceMax }, signal);
  if (owners.length === glanceMax) return true;
  const { commitment, minContextSlot } = asOf;
  return rpc.answer(async (node) => {
    if (owners.length === 0) return (await slotOf(node, commitment, minContextSlot)) - newest >= movesEvery_slots;
    const addresses = owners.map(({ address }) => address);
    const { slot, held } = await heldBy(node, addresses, accountsOf, asOf);
    return slot - newest >= movesEvery_slots || memory.changed(held, minContextSlot).length > 0;
  }, signal);
}

/**
 * Of the final pass: what was paid since is among what the head pass has seen, or is found when that has looked. While anything of that is
 * not final, the pass moves: what it comes past and does not find has left the chain.
 */
export const finalDue = ({ looksDue, headThen, rests }: Since, head: Since, hot: readonly string[]): boolean =>
  looksDue > 0 || headThen !== head.newest || rests >= restsMax || hot.length > 0;
