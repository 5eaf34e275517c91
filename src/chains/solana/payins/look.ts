/** Looks at a page of deposits: their balances are read, and the transactions of those that changed. */
import { inParallel } from '../../inParallel.ts';
import type { TransferLog } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { type AsOf, type Block, blockAt, type Commitment } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { type HistoryPart, mostByItself, mostOfLook, readHistory, unread } from './accountHistory.ts';
import { logOf } from './credits.ts';
import type { Memory, ReadAccount } from './memory.ts';
import { type AddressBook, type Held, heldBy } from './tokenAccounts.ts';

export interface Page {
  readonly logs: readonly TransferLog[];
  /** Owners whose accounts hold what their history does not explain. */
  readonly unexplained: readonly string[];
  readonly read: readonly ReadAccount[];
}

/** @param asOf `minContextSlot`: the slot of the look @throws RpcFailed */
export async function lookAt(
  node: SolanaNode,
  owners: readonly string[],
  {
    accountsOf,
    memory,
    asOf,
  }: { readonly accountsOf: AddressBook; readonly memory: Memory; readonly asOf: LookedAsOf },
): Promise<Page> {
  const changed = memory.changed(await heldBy(node, owners, accountsOf, asOf), asOf.minContextSlot);
  const read = await inParallel(changed, callsAtOnce, (held) => readAccount(node, held, memory, asOf));
  const unexplained = new Set(read.filter(({ explained }) => !explained).map(({ account }) => account));
  return {
    logs: await logsOf(node, read, asOf.commitment),
    unexplained: owners.filter(
      (owner) => unexplained.size > 0 && accountsOf(owner).some((each) => unexplained.has(each)),
    ),
    read,
  };
}

export interface LookedAsOf extends AsOf {
  readonly minContextSlot: bigint;
}

type Read = ReadAccount & Pick<HistoryPart, 'credits'>;

async function readAccount(
  node: SolanaNode,
  { account, amount: balance }: Held,
  memory: Memory,
  asOf: AsOf,
): Promise<Read> {
  // Emptied: swept, or what it held has left the chain, from where the same transaction may come back.
  if (balance === 0n) return { account, balance, explained: true, readTo: unread, newest: null, credits: [] };
  const from = memory.lastRead(account);
  const { credits, readTo, newest, whole } = await readHistory(node, account, from, asOf, mostOfLook);
  const explained = whole && readTo.amount === balance;
  // All was read and it does not add up: something of it has left the chain.
  const again = whole && !explained ? { ...readTo, signature: null } : readTo;
  return { account, balance, explained, readTo: again, newest, credits };
}

/** What one deposit ever received, whatever a pass remembers of it. @throws RpcFailed */
export async function readWhole(
  node: SolanaNode,
  owner: string,
  accountsOf: AddressBook,
  asOf: AsOf,
): Promise<{ readonly logs: readonly TransferLog[]; readonly explained: boolean }> {
  const held = (await heldBy(node, [owner], accountsOf, asOf)).filter(({ amount }) => amount > 0n);
  const read = await inParallel(held, callsAtOnce, async ({ account, amount }) => {
    const { credits, readTo, whole } = await readHistory(node, account, unread, asOf, mostByItself);
    return { credits, explained: whole && readTo.amount === amount };
  });
  return { logs: await logsOf(node, read, asOf.commitment), explained: read.every(({ explained }) => explained) };
}

function logsOf(
  node: SolanaNode,
  read: readonly Pick<HistoryPart, 'credits'>[],
  commitment: Commitment,
): Promise<readonly TransferLog[]> {
  const blocks = createBlocks(node, commitment);
  const credited = read.flatMap(({ credits }) => credits);
  return inParallel(credited, callsAtOnce, async ({ credit, transaction }) =>
    logOf(credit, transaction, await blocks(transaction.slot)),
  );
}

/** Reads blocks, each once. */
function createBlocks(node: SolanaNode, commitment: Commitment): (slot: bigint) => Promise<Block> {
  const asked = new Map<bigint, Promise<Block>>();
  return (slot) => {
    const block = asked.get(slot) ?? blockAt(node, slot, commitment);
    asked.set(slot, block);
    return block;
  };
}
