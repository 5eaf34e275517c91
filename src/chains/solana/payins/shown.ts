/** What nodes show of single payins. */
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import { boundedMap } from '../../../lib/boundedMap.ts';
import type { Statement } from '../../node/agreement.ts';
import { type SeenPayin, sameTransfer, transferOf } from '../../ports.ts';
import { solanaChainId } from '../config.ts';
import { type Landed, landed, landedEach, TransactionUnreadable } from '../landed.ts';
import { untilThere } from '../patience.ts';
import { type Block, blockAt, finalBlocks, finalHead, lagging, signaturesAt, slotOf } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { changeIn, creditsOf, logOf } from './credits.ts';

/** What a node says of a transfer that another has told. @throws RpcFailed when it cannot say: the slot is not final there */
export async function stated(node: SolanaNode, transfer: Transfer, finalBlock: FinalBlocks): Promise<Statement> {
  const { txHash } = transfer;
  const [found] = await untilThere([txHash], (asked) => landedEach(node, asked, 'finalized'));
  if (found instanceof TransactionUnreadable) throw found;
  if (!found) {
    const slot = BigInt(transfer.blockNumber);
    if ((await slotOf(node, 'finalized')) < slot) throw lagging(node, 'getTransaction', slot);
    return { instead: `has no final transaction ${txHash}` };
  }
  const showsIn = (place: Block) =>
    transfersOf(found, place, [transfer.to]).some((each) => sameTransfer(each, transfer));
  const block = await finalBlock(node, found.slot);
  // What a node has shown otherwise may have been a lie, and is not held against it.
  if (showsIn(block) || showsIn(await finalBlock(node, found.slot, 'anew'))) return 'same';
  return { instead: `has transaction ${txHash} in slot ${found.slot} (${block.hash}), without that transfer` };
}

export type FinalBlocks = (node: SolanaNode, slot: bigint, anew?: 'anew') => Promise<Block>;

/** Payins of one block need it once of each node: what is final stays. */
const finalBlocksMax = 1_000;

export function createFinalBlocks(): FinalBlocks {
  const known = boundedMap<Block>(finalBlocksMax);
  return async (node, slot, anew) => {
    const key = `${node.name} ${slot}`;
    const block = (anew ? undefined : known.get(key)) ?? (await blockAt(node, slot, 'finalized'));
    known.set(key, block);
    return block;
  };
}

export const transfersOf = (transaction: Landed, block: Block, owners: readonly string[]): readonly Transfer[] =>
  creditsOf(transaction, owners).map((credit) => transferOf(solanaChainId, logOf(credit, transaction, block)));

/** Longer runs of slots without a block do not occur: each leader has four slots. */
const around_slots = 64n;

/** Whether a node has a payin in its final block. Undefined while the slot is not final, or the node does not have the blocks around it. */
export async function isShown(node: SolanaNode, seen: SeenPayin): Promise<boolean | undefined> {
  const { blockNumber: slot } = seen;
  const { slot: newest } = await finalHead(node);
  if (newest < slot) return undefined;
  const slots = await finalBlocks(node, slot > around_slots ? slot - around_slots : 0n, slot + around_slots);
  if (slots.includes(slot)) return isInBlock(node, seen);
  // The slot is empty, and no block missing on the node, when the next block names the one before as its parent.
  const before = slots.findLast((each) => each < slot);
  const after = slots.find((each) => each > slot);
  if (before === undefined || after === undefined) return undefined;
  return (await blockAt(node, after, 'finalized')).parentSlot === before ? false : undefined;
}

/** What a node does not find of a transaction says less than what its block holds, which is whole or not there. */
async function isInBlock(
  node: SolanaNode,
  { transferId: id, txHash, blockNumber, blockHash }: SeenPayin,
): Promise<boolean | undefined> {
  const { hash, signatures } = await signaturesAt(node, blockNumber, 'finalized');
  if (hash !== blockHash || !signatures.includes(txHash)) return false;
  const found = await landed(node, txHash, 'finalized');
  return found ? credits(found, id) : undefined;
}

/** Whoever's account it was: an account that is closed by now has no owner any more. */
const credits = (transaction: Landed, id: string): boolean =>
  !transaction.failed &&
  transaction.after.some(
    ({ account, index }) =>
      transferId({ chainId: solanaChainId, txHash: transaction.signature, index }) === id &&
      changeIn(account, transaction) > 0n,
  );
