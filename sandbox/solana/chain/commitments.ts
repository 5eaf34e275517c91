/** Slots, block heights and how far a block is from final. */

export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

/** Number of slots until a block is confirmed, and final. */
export interface Finality {
  readonly confirmed_slots: number;
  readonly finalized_slots: number;
}

/** Small, for short waits. On the public network a block is final 32 slots later. */
export const sandboxFinality: Finality = { confirmed_slots: 1, finalized_slots: 4 };

/** A blockhash is valid for this many blocks after its own. */
export const blockhashAge_blocks = 150;

/** The slot that a new chain begins with. */
export const firstSlot = 1_000;

/** Block heights are lower than slots by this, so that code which confuses the two fails. */
const skipped_slots = 400;

export const heightOf = (slot: number): number => slot - skipped_slots;

/** The newest slot of a commitment, for a node that has seen `head`. */
export function slotAt(commitment: Commitment, head: number, finality: Finality): number {
  if (commitment === 'processed') return head;
  const depth = commitment === 'confirmed' ? finality.confirmed_slots : finality.finalized_slots;
  return Math.max(head - depth, firstSlot);
}

/** Commitment of a slot's block, for a node with this `head`. */
export function commitmentOf(slot: number, head: number, finality: Finality): Commitment {
  if (slot <= slotAt('finalized', head, finality)) return 'finalized';
  return slot <= slotAt('confirmed', head, finality) ? 'confirmed' : 'processed';
}
