/** Effects of transactions on a wallet and its token accounts, from the nodes' lists and the balances around each transaction. */
import { instant } from '../../../domain/time.ts';
import { inParallel } from '../../lib/concurrency.ts';
import { agreedStanding, readPage } from '../historyPages.ts';
import {
  type AccountBalances,
  type AccountHistory,
  type AccountTransaction,
  type BalanceChange,
  coin,
  type HistoryAsked,
  type HistoryPage,
  HistoryTooLong,
} from '../ports.ts';
import { callsAtOnce, solanaChain, solanaChainId } from './config.ts';
import {
  type LandedTransaction,
  type ListedSignature,
  landedEach,
  signaturesOf,
  TransactionUnreadable,
} from './landed.ts';
import { accountsOf, type Block, blockAt, untilThere } from './reads.ts';
import { RpcFailed, type SolanaNode, type SolanaRpc } from './rpc.ts';
import { tokenAccountIn, tokenAccountOf } from './tokenProgram.ts';

const asOf = { commitment: 'finalized' } as const;
/** Maximum per account. Anyone can name an account in their own transaction, for 0.000005 SOL each. */
const listedMax = 20_000;
/** Nodes may return less in one answer than requested. */
const pagesMax = 220;

export function createSolanaHistory(anyRpc: SolanaRpc): AccountHistory {
  const rpc = anyRpc.as('late');
  const { tokens } = solanaChain();

  const accountsOfOwner = (owner: string) => [owner, ...tokens.map(({ address: mint }) => tokenAccountOf(owner, mint))];

  const page = (node: SolanaNode, asked: HistoryAsked): Promise<HistoryPage> =>
    readPage(asked, {
      span: asked.to - asked.from + 1n,
      async happenedIn({ from, to }) {
        const lists = await inParallel(accountsOfOwner(asked.account), callsAtOnce, (account) =>
          listed(node, account, from),
        );
        const seen = new Map(lists.flat().map(({ signature, slot }) => [signature, slot]));
        const found = [...seen].map(([hash, blockNumber]) => ({ hash, blockNumber }));
        return { found: found.filter(({ blockNumber }) => blockNumber <= to), complete: true };
      },
      read: async (found) =>
        readEach(
          node,
          asked.account,
          found.map(({ hash }) => hash),
        ),
    });

  async function readEach(node: SolanaNode, account: string, signatures: readonly string[]) {
    const found = await untilThere(signatures, (wanted) => landedEach(node, wanted, 'finalized'));
    const whole = signatures.map((signature, at) => shown(node, signature, found[at] ?? null));
    const slots = [...new Set(whole.map(({ slot }) => slot))];
    const blocks = await inParallel(slots, callsAtOnce, (slot) => blockAt(node, slot, 'finalized'));
    const blockOf = new Map(blocks.map((block) => [block.slot, block]));
    return whole.flatMap((each) => {
      const block = blockOf.get(each.slot);
      return block ? [transactionIn(account, each, block)] : [];
    });
  }

  async function standingIn(node: SolanaNode, owner: string): Promise<AccountBalances> {
    const { slot, accounts } = await accountsOf(node, accountsOfOwner(owner), asOf);
    const [wallet, ...held] = accounts;
    const { hash, time_s } = await blockAt(node, slot, 'finalized');
    const amounts = tokens.map(({ address }, at) => [address, tokenAccountIn(held[at])?.amount ?? 0n]);
    return {
      blockNumber: slot,
      blockHash: hash,
      time: instant(time_s * 1_000),
      balances: { [coin]: wallet?.lamports ?? 0n, ...Object.fromEntries(amounts) },
    };
  }

  return {
    chainId: solanaChainId,
    listsCoin: true,
    transactions: (asked, signal) => rpc.answer((node) => page(node, asked), signal),
    standing: (account, signal) =>
      agreedStanding(
        rpc,
        account,
        (node) => standingIn(node, account),
        (node) => standingIn(node, account),
        signal,
      ),
    // It is read at a final block.
    finality: async () => 'final',
  };
}

/** Transactions that name an account, down to a slot. @throws HistoryTooLong */
async function listed(node: SolanaNode, account: string, from: bigint): Promise<readonly ListedSignature[]> {
  const seen: ListedSignature[] = [];
  for (let pages = 0; pages < pagesMax && seen.length < listedMax; pages++) {
    const page = await signaturesOf(node, account, { until: null, before: seen.at(-1)?.signature ?? null }, asOf);
    seen.push(...page.filter(({ slot }) => slot >= from));
    if (page.length === 0 || page.some(({ slot }) => slot < from)) return seen;
  }
  throw new HistoryTooLong(`${seen.length} transactions name ${account} since slot ${from}: ask for what came later`);
}

type Whole = LandedTransaction & { readonly coin: NonNullable<LandedTransaction['coin']> };

function shown(node: SolanaNode, signature: string, found: LandedTransaction | TransactionUnreadable | null): Whole {
  if (found instanceof TransactionUnreadable) throw found;
  if (found?.coin) return { ...found, coin: found.coin };
  throw new RpcFailed(node.name, 'getTransaction', 'refused', `it lists ${signature} and does not show it whole`);
}

function transactionIn(account: string, landed: Whole, { hash, time_s }: Block): AccountTransaction {
  const { signature, slot, failed, accounts, coin: moved } = landed;
  const outgoing = accounts[0] === account;
  return {
    txHash: signature,
    blockNumber: slot,
    blockHash: hash,
    time: instant(time_s * 1_000),
    nonce: null,
    outgoing,
    succeeded: !failed,
    fee: outgoing ? moved.fee : 0n,
    changes: failed ? [] : [...coinChange(account, landed), ...tokenChanges(account, landed)],
  };
}

/** Excludes the fee, which the first account paid. */
function coinChange(account: string, { accounts, coin: { fee, before, after } }: Whole): readonly BalanceChange[] {
  const grownBy = (at: number) => (after[at] ?? 0n) - (before[at] ?? 0n) + (at === 0 ? fee : 0n);
  const own = accounts.indexOf(account);
  const amount = own < 0 ? 0n : grownBy(own);
  const others = accounts.map((name, at) => ({ name, amount: grownBy(at) })).filter((_, at) => at !== own);
  return changesWith(coin, amount, others);
}

function tokenChanges(owner: string, { before, after }: LandedTransaction): readonly BalanceChange[] {
  return solanaChain().tokens.flatMap(({ address: mint }) => {
    const own = tokenAccountOf(owner, mint);
    const sums = new Map<string, { readonly owner: string | undefined; amount: bigint }>();
    for (const [sign, balances] of [[-1n, before] as const, [1n, after] as const]) {
      for (const { account, owner: of, amount } of balances.filter((each) => each.mint === mint)) {
        const sum = sums.get(account)?.amount ?? 0n;
        sums.set(account, { owner: of ?? sums.get(account)?.owner, amount: sum + sign * amount });
      }
    }
    const amount = sums.get(own)?.amount ?? 0n;
    const others = [...sums].filter(([account]) => account !== own);
    return changesWith(
      mint,
      amount,
      others.map(([account, sum]) => ({ name: sum.owner ?? account, amount: sum.amount })),
    );
  });
}

interface Other {
  readonly name: string;
  readonly amount: bigint;
}

/** Balances do not identify payer and receiver: an outflow is divided among its receivers only if nobody else paid. */
function changesWith(asset: string, amount: bigint, others: readonly Other[]): readonly BalanceChange[] {
  if (amount === 0n) return [];
  const payers = others.filter((other) => other.amount < 0n);
  if (amount > 0n) {
    const [most] = payers.toSorted((a, b) => (a.amount < b.amount ? -1 : 1));
    return [{ asset, amount, counterparty: most?.name ?? null }];
  }
  const receivers = others.filter((other) => other.amount > 0n);
  if (payers.length > 0) {
    const same = receivers.filter((other) => other.amount === -amount);
    return [{ asset, amount, counterparty: same.length === 1 ? (same[0]?.name ?? null) : null }];
  }
  const burnt = receivers.reduce((left, other) => left + other.amount, amount);
  return [
    ...receivers.map((other) => ({ asset, amount: -other.amount, counterparty: other.name })),
    ...(burnt < 0n ? [{ asset, amount: burnt, counterparty: null }] : []),
  ];
}
