/** Ingester of Solana: payins per pass, and single nodes' statements about a transfer. */

import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import { boundedMap } from '../../../lib/cache.ts';
import type { Watch } from '../../family.ts';
import { agreedOn, allDeny, createShownTransfers, nodesNeeded, type Statement } from '../../node/agreement.ts';
import { type Ingester, type SeenPayin, sameTransfer, transferOf } from '../../ports.ts';
import { type SolanaConfig, solanaChainId } from '../config.ts';
import { type LandedTransaction, landed, landedEach, TransactionUnreadable } from '../landed.ts';
import {
  accountsOf,
  accountsPerCall,
  type Block,
  blockAt,
  type Commitment,
  finalBlocks,
  finalHead,
  lagging,
  signaturesAt,
  slotOf,
  untilThere,
} from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountIn } from '../tokenProgram.ts';
import { changeIn, creditsOf, logOf, ownerless, timeOf } from './credits.ts';
import { createPolledSlots } from './memory.ts';
import { createScanner } from './scanner.ts';
import { createAddressBook, type TokenAccountAddresses } from './tokenAccounts.ts';

/** A node's statement about a transfer of another node. @throws RpcFailed if it cannot answer: the slot is not final there */
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
  // A different earlier answer may have been a lie by another node, so this node is queried again.
  if (showsIn(block) || showsIn(await finalBlock(node, found.slot, 'anew'))) return 'same';
  return { instead: `has transaction ${txHash} in slot ${found.slot} (${block.hash}), without that transfer` };
}

export type FinalBlocks = (node: SolanaNode, slot: bigint, anew?: 'anew') => Promise<Block>;

/** Payins of one block need it once per node: a final block does not change. */
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

export const transfersOf = (
  transaction: LandedTransaction,
  block: Block,
  owners: readonly string[],
): readonly Transfer[] =>
  creditsOf(transaction, owners).map((credit) => transferOf(solanaChainId, logOf(credit, transaction, block)));

/** Longer runs of slots without a block do not occur: each leader has four slots. */
const around_slots = 64n;

/** True if a node has a payin in its final block. Undefined while the slot is not final, or the node lacks the blocks around it. */
export async function isShown(node: SolanaNode, seen: SeenPayin): Promise<boolean | undefined> {
  const { blockNumber: slot } = seen;
  const { slot: newest } = await finalHead(node);
  if (newest < slot) return undefined;
  const slots = await finalBlocks(node, slot > around_slots ? slot - around_slots : 0n, slot + around_slots);
  if (slots.includes(slot)) return isInBlock(node, seen);
  // The slot is empty, and no block missing on the node, if the next block names the previous one as its parent.
  const before = slots.findLast((each) => each < slot);
  const after = slots.find((each) => each > slot);
  if (before === undefined || after === undefined) return undefined;
  return (await blockAt(node, after, 'finalized')).parentSlot === before ? false : undefined;
}

/** A missing transaction proves less than the block's list: a block is complete or absent. */
async function isInBlock(
  node: SolanaNode,
  { transferId: id, txHash, blockNumber, blockHash }: SeenPayin,
): Promise<boolean | undefined> {
  const { hash, signatures } = await signaturesAt(node, blockNumber, 'finalized');
  if (hash !== blockHash || !signatures.includes(txHash)) return false;
  const found = await landed(node, txHash, 'finalized');
  return found ? credits(found, id) : undefined;
}

/** Ignores the owner: a closed account has none any more. */
const credits = (transaction: LandedTransaction, id: string): boolean =>
  !transaction.failed &&
  transaction.after.some(
    ({ account, index }) =>
      transferId({ chainId: solanaChainId, txHash: transaction.signature, index }) === id &&
      changeIn(account, transaction) > 0n,
  );

/**
 * Reads deposits' receipts of catalogue tokens. Solana's blocks are too large to read them all: the balances of deposits' token accounts
 * are polled, and the transactions of changed ones are read. Every method throws ChainUnavailable if no node can answer.
 */
export function createSolanaIngester(
  config: SolanaConfig,
  watch: Watch,
  rpc: SolanaRpc = createSolanaRpc(config),
  tokenAccounts: TokenAccountAddresses = createAddressBook(),
): Ingester {
  const shown = createShownTransfers();
  const polled = createPolledSlots();
  const { finalSlot, ...scanner } = createScanner(rpc, watch, { shown, polled, accountsOf: tokenAccounts });
  const finalBlock = createFinalBlocks();

  /** A transaction that is only confirmed, in a slot that is final by now, has left the chain, or the node lags: it is ignored. */
  async function find(node: SolanaNode, signature: string): Promise<Found | undefined> {
    const final = await landed(node, signature, 'finalized');
    if (final) return { transaction: final, commitment: 'finalized' };
    const seen = await landed(node, signature, 'confirmed');
    return seen && seen.slot > finalSlot() ? { transaction: seen, commitment: 'confirmed' } : undefined;
  }

  async function transfersBy(node: SolanaNode, signature: string): Promise<readonly Transfer[] | undefined> {
    const found = await find(node, signature);
    if (!found) return undefined;
    const { transaction, commitment } = found;
    const block = await blockAt(node, transaction.slot, commitment);
    return transfersOf(transaction, block, await ownersOf(node, ownerless(transaction), commitment));
  }

  return {
    chainId: solanaChainId,
    passes: ['head', 'final'],
    // 32 slots become final within seconds, so every pass waits for finality.
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: [],
    ...scanner,

    async lookUp(txHash, signal) {
      let unread: TransactionUnreadable | undefined;
      const found = await rpc.as('late').firstAnswer(async (node) => {
        try {
          return await transfersBy(node, txHash);
        } catch (error) {
          if (error instanceof TransactionUnreadable) unread = error;
          throw error;
        }
      }, signal);
      // An unreadable copy at one node outweighs a missing one at another: it is no proof of absence.
      if (!found && unread) throw unread;
      return found ?? [];
    },

    hasSucceeded: async (txHash, signal) =>
      (await rpc.as('late').firstAnswer(async (node) => {
        const found = await find(node, txHash);
        return found && !found.transaction.failed;
      }, signal)) ?? false,

    agreed: (transfer, { usd }, signal) =>
      agreedOn(
        rpc,
        nodesNeeded(config.agree, usd),
        async (node) => (shown.isShownBy(node, transfer) ? 'same' : stated(node, transfer, finalBlock)),
        signal,
      ),

    hasLeft: (seen, signal) => allDeny(rpc, (node) => isShown(node, seen), signal),

    async head(signal) {
      const slots = await rpc.all(async (node) => ({ node, slot: await slotOf(node, 'confirmed') }), signal);
      const { node, slot } = slots.reduce((a, b) => (b.slot > a.slot ? b : a));
      return { blockNumber: slot, chainTime: timeOf(await blockAt(node, slot, 'confirmed')) };
    },

    // The final slot advances with the confirmed one.
    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const node = connect(signal);
      const slot = await slotOf(node, 'confirmed');
      polled.tell(node, slot);
      return { blockNumber: slot, mark: String(slot) };
    }),
  };
}

/** Owners of token accounts that still exist. */
async function ownersOf(
  node: SolanaNode,
  accounts: readonly string[],
  commitment: Commitment,
): Promise<readonly string[]> {
  if (accounts.length === 0) return [];
  const found = await accountsOf(node, accounts.slice(0, accountsPerCall), { commitment });
  return found.accounts.flatMap((account) => tokenAccountIn(account)?.owner ?? []);
}

interface Found {
  readonly transaction: LandedTransaction;
  readonly commitment: Commitment;
}
