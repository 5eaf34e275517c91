import type { Transfer } from '../../../../domain/payment/events.ts';
import type { Watch } from '../../family.ts';
import { agreedOn, allDeny, nodesNeeded } from '../../node/agreement.ts';
import { createShownTransfers } from '../../node/shownTransfers.ts';
import type { Ingester } from '../../ports.ts';
import { type SolanaConfig, solanaChainId } from '../config.ts';
import { type Landed, landed, TransactionUnreadable } from '../landed.ts';
import { accountsOf, accountsPerCall, blockAt, type Commitment, slotOf } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountIn } from '../tokenProgram.ts';
import { ownerless, timeOf } from './credits.ts';
import { createPolledSlots } from './polledSlots.ts';
import { createScanner } from './scanner.ts';
import { createFinalBlocks, isShown, stated, transfersOf } from './shown.ts';
import { type AddressBook, createAddressBook } from './tokenAccounts.ts';

/**
 * Reads what deposits receive of the catalogue's tokens. Solana has too much in every block to read them all: the balances of deposits'
 * token accounts are polled, and the transactions of those that changed are read. Every method throws ChainUnavailable when no node can
 * answer.
 */
export function createSolanaIngester(
  config: SolanaConfig,
  watch: Watch,
  rpc: SolanaRpc = createSolanaRpc(config),
  tokenAccounts: AddressBook = createAddressBook(),
): Ingester {
  const shown = createShownTransfers();
  const polled = createPolledSlots();
  const { finalSlot, ...scanner } = createScanner(rpc, watch, { shown, polled, accountsOf: tokenAccounts });
  const finalBlock = createFinalBlocks();

  /** A transaction that is only confirmed, in a slot that is final by now, has left the chain, or the node lags: it is no fact. */
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
    // 32 slots are final within seconds, which everything waits for.
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: [],
    ...scanner,

    async lookUp(txHash, signal) {
      let unread: TransactionUnreadable | undefined;
      const found = await rpc.as('late').first(async (node) => {
        try {
          return await transfersBy(node, txHash);
        } catch (error) {
          if (error instanceof TransactionUnreadable) unread = error;
          throw error;
        }
      }, signal);
      // One node has it, and another does not know it: that is no proof that there is nothing.
      if (!found && unread) throw unread;
      return found ?? [];
    },

    hasSucceeded: async (txHash, signal) =>
      (await rpc.as('late').first(async (node) => {
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
      const slots = await rpc.every(async (node) => ({ node, slot: await slotOf(node, 'confirmed') }), signal);
      const { node, slot } = slots.reduce((a, b) => (b.slot > a.slot ? b : a));
      return { blockNumber: slot, chainTime: timeOf(await blockAt(node, slot, 'confirmed')) };
    },

    // What is final moves with what is confirmed.
    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const node = connect(signal);
      const slot = await slotOf(node, 'confirmed');
      polled.tell(node, slot);
      return { blockNumber: slot, mark: String(slot) };
    }),
  };
}

/** Whose token accounts are, as far as they still exist. */
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
  readonly transaction: Landed;
  readonly commitment: Commitment;
}
