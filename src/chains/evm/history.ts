/**
 * Effects of transactions on an account. Tokens are found by their logs; the account's own transactions by its nonce in past states, as far
 * as a node keeps them. No node lists received coin, or coin from contracts.
 */
import { type Address, isAddressEqual } from 'viem';
import { type Chain, chainOf, tokenAt } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { higher, inParallel, lower } from '../../lib/concurrency.ts';
import { agreedStanding, type BlockRange, type Happened, type HappenedIn, readPage } from '../historyPages.ts';
import {
  type AccountBalances,
  type AccountHistory,
  type AccountTransaction,
  type BalanceChange,
  coin,
  type HistoryAsked,
  type HistoryPage,
} from '../ports.ts';
import {
  coinBalance,
  logsOfAccount,
  logsOfAccounts,
  nonceAt,
  type Transaction,
  tokenBalance,
  topicOf,
  transactionOf,
  transactionsAt,
  transactionsByHash,
} from './accounts.ts';
import { addressIn, checksummed } from './addresses.ts';
import type { EvmChainConfig } from './config.ts';
import { finalHeight } from './finality.ts';
import { callsAtOnce } from './payins/blocks.ts';
import { createNonceUses } from './payouts/nonceUse.ts';
import { type Header, header, knownHeader, type RawLog, type Receipt, receiptOf, transferTopic } from './reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from './rpc.ts';

/** Maximum per range; each needs some ten calls. */
const hiddenMax = 200;

/**
 * Finds the transactions of a block range that moved the account's tokens or that it sent.
 * @throws RpcFailed
 */
export async function happenedIn(
  node: EvmNode,
  account: string,
  tokens: readonly string[],
  range: BlockRange,
): Promise<HappenedIn> {
  const logged = await loggedIn(node, account, tokens, range);
  const nonces = await noncesIn(node, account, range);
  const sent = nonces ? await hiddenIn(node, account, range, { ...nonces, logged }) : { found: [], complete: false };
  const all = new Map([...logged, ...sent.found].map((each) => [each.hash, each]));
  return { found: [...all.values()], complete: sent.complete };
}

/** Halves a range that a node refuses. */
async function loggedIn(
  node: EvmNode,
  account: string,
  tokens: readonly string[],
  { from, to }: BlockRange,
): Promise<readonly Happened[]> {
  try {
    const { logs, broken } = await logsOfAccount(node, account, tokens, { from, to });
    const [unread] = broken;
    if (unread) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', unread.evidence);
    const ours = logs.filter(({ removed }) => !removed);
    return ours.map(({ txHash, blockNumber }) => ({ hash: txHash, blockNumber }));
  } catch (error) {
    const isTooWide = error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge');
    if (!isTooWide || from === to) throw error;
    const middle = (from + to) / 2n;
    const first = await loggedIn(node, account, tokens, { from, to: middle });
    return [...first, ...(await loggedIn(node, account, tokens, { from: middle + 1n, to }))];
  }
}

interface Nonces {
  /** First nonce used in the range, and first nonce unused at its end. */
  readonly first: bigint;
  readonly end: bigint;
}

/** Undefined if the node keeps no states that old. */
async function noncesIn(node: EvmNode, account: string, { from, to }: BlockRange): Promise<Nonces | undefined> {
  try {
    const [first, end] = await Promise.all([
      from === 0n ? 0n : nonceAt(node, account, from - 1n),
      nonceAt(node, account, to),
    ]);
    return { first, end };
  } catch (error) {
    if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
    throw error;
  }
}

/** Own transactions of the account without token logs: coin payments, cancels, reverted transactions. */
async function hiddenIn(
  node: EvmNode,
  account: string,
  range: BlockRange,
  { first, end, logged }: Nonces & { readonly logged: readonly Happened[] },
): Promise<HappenedIn> {
  const isOwn = ({ from }: Transaction) => from.toLowerCase() === account.toLowerCase();
  const shown = await transactionsByHash(
    node,
    logged.map(({ hash }) => hash),
  );
  const known = new Set(shown.flatMap((each) => (each && isOwn(each) ? [each.nonce] : [])));
  const count = Number(end - first);
  const hidden = Array.from({ length: count }, (_, at) => first + BigInt(at)).filter((nonce) => !known.has(nonce));
  const searched = hidden.slice(0, hiddenMax);
  const blocks = await inParallel(searched, callsAtOnce, (nonce) => blockOf(node, account, nonce, range));
  const found = await inParallel([...new Set(blocks)], callsAtOnce, async (blockNumber) =>
    (await transactionsAt(node, blockNumber)).filter(isOwn).map(({ hash }) => ({ hash, blockNumber })),
  );
  return { found: found.flat(), complete: searched.length === hidden.length };
}

/** First block of the range after which the nonce is used. */
async function blockOf(node: EvmNode, account: string, nonce: bigint, { from, to }: BlockRange): Promise<bigint> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await nonceAt(node, account, middle)) > nonce) high = middle;
    else low = middle + 1n;
  }
  return low;
}

export interface DepositTransaction {
  readonly address: string;
  /** Without sender and cost: a deposit sends no transactions. */
  readonly transaction: AccountTransaction;
}

/**
 * Uses the logs of the catalogue's tokens: a node searches for many addresses as fast as for one.
 * @param addresses with their checksums @throws ChainUnavailable
 */
export async function* transfersOfMany(
  { chain, span }: { readonly chain: Chain; readonly span: bigint },
  rpc: EvmRpc,
  addresses: readonly string[],
  { from, to }: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<DepositTransaction> {
  let width = span;
  for (let first = from; first <= to; ) {
    const last = lower(to, first + width - 1n);
    const found = await rpc.answer((node) => searched(node, chain, addresses, { from: first, to: last }), signal);
    if (found === 'tooMuch') {
      width = higher(width / 2n, 1n);
      continue;
    }
    yield* found;
    first = last + 1n;
    width = lower(span, width * 2n);
  }
}

/** Skips a node with undecodable logs: it must not count as a node without logs. */
async function searched(
  node: EvmNode,
  chain: Chain,
  addresses: readonly string[],
  range: BlockRange,
): Promise<readonly DepositTransaction[] | 'tooMuch'> {
  const tokens = chain.tokens.map(({ address }) => address);
  try {
    const { logs, broken } = await logsOfAccounts(node, addresses, tokens, range);
    const [unread] = broken;
    if (unread) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', unread.evidence);
    return await inTransactions(
      node,
      chain,
      addresses,
      logs.filter(({ removed }) => !removed),
    );
  } catch (error) {
    const isTooWide = error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge');
    if (isTooWide && range.from < range.to) return 'tooMuch';
    throw error;
  }
}

async function inTransactions(
  node: EvmNode,
  chain: Chain,
  addresses: readonly string[],
  logs: readonly RawLog[],
): Promise<readonly DepositTransaction[]> {
  const spelled = new Map(addresses.map((address) => [topicOf(address) as string, address]));
  const times = new Map<bigint, number>();
  for (const { blockNumber, blockTime_s } of logs)
    if (!times.has(blockNumber)) times.set(blockNumber, blockTime_s ?? (await knownHeader(node, blockNumber)).time_s);
  const once = new Map(logs.map((log) => [`${log.blockHash} ${log.logIndex}`, log]));
  return [...Map.groupBy(once.values(), ({ txHash }) => txHash).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const { txHash, blockNumber, blockHash } = first;
    const time = instant((times.get(blockNumber) ?? 0) * 1_000);
    const concerned = new Set(
      own.flatMap(({ topics: [, from = '', to = ''] }) => [spelled.get(from), spelled.get(to)]),
    );
    return [...concerned].flatMap((address) => {
      if (address === undefined) return [];
      const changes = own.flatMap((log) =>
        changeInLog(log, tokenAt(chain, log.address)?.address ?? log.address, address),
      );
      const place = { txHash, blockNumber, blockHash, time };
      return [{ address, transaction: { ...place, nonce: null, outgoing: false, succeeded: true, fee: 0n, changes } }];
    });
  });
}

type Config = Pick<EvmChainConfig, 'chainId' | 'depths' | 'rangeBlocksMax'>;

export function createEvmHistory({ chainId, depths, rangeBlocksMax }: Config, anyRpc: EvmRpc): AccountHistory {
  const chain = chainOf(chainId);
  const tokens = chain.tokens.map(({ address }) => address);
  const rpc = anyRpc.as('late');
  const lookUp = createNonceUses(rangeBlocksMax);

  /** @throws RpcFailed if the node does not return it completely */
  async function read(node: EvmNode, account: string, hash: string): Promise<AccountTransaction> {
    const [transaction, receipt] = await Promise.all([transactionOf(node, hash), receiptOf(node, hash)]);
    const block = receipt && (await knownHeader(node, receipt.blockNumber));
    if (!transaction || block?.hash !== receipt?.blockHash || !receipt || receipt.fee_wei === undefined || !block)
      throw new RpcFailed(node.name, 'eth_getTransactionReceipt', 'refused', `it does not show ${hash} whole`);
    const outgoing = transaction.from.toLowerCase() === account.toLowerCase();
    return {
      txHash: receipt.hash,
      blockNumber: receipt.blockNumber,
      blockHash: receipt.blockHash,
      time: instant(block.time_s * 1_000),
      nonce: outgoing ? transaction.nonce : null,
      outgoing,
      succeeded: receipt.succeeded,
      fee: outgoing ? receipt.fee_wei : 0n,
      changes: changesIn(chain, account, transaction, receipt),
    };
  }

  const page = async (node: EvmNode, asked: HistoryAsked): Promise<HistoryPage> => {
    const { account } = asked;
    await knownHeader(node, asked.to);
    return readPage(asked, {
      span: BigInt(node.limits.most('logBlocks') ?? rangeBlocksMax),
      happenedIn: (range) => happenedIn(node, account, tokens, range),
      read: (found) => inParallel(found, callsAtOnce, ({ hash }) => read(node, account, hash)),
    });
  };

  /** @throws RpcFailed also if a fork happens between the calls */
  async function standingIn(
    node: EvmNode,
    account: Address,
    { number, hash, time_s }: Header,
  ): Promise<AccountBalances> {
    const [sent, held, ...amounts] = await Promise.all([
      nonceAt(node, account, number),
      coinBalance(node, account, number),
      ...tokens.map((token) => tokenBalance(node, account, token, number)),
    ]);
    if ((await header(node, number))?.hash !== hash)
      throw new RpcFailed(node.name, 'eth_getBlockByNumber', 'refused', `it has another block ${number}`);
    const balances = { [coin]: held, ...Object.fromEntries(tokens.map((token, at) => [token, amounts[at] ?? 0n])) };
    return { blockNumber: number, blockHash: hash, time: instant(time_s * 1_000), sent, balances };
  }

  return {
    chainId,
    listsCoin: false,
    transactions: (asked, signal) => rpc.answer((node) => page(node, asked), signal),
    transfersOf: (addresses, range, signal) =>
      transfersOfMany({ chain, span: BigInt(rangeBlocksMax) }, rpc, addresses, range, signal),
    withNonce: (asked, signal) =>
      rpc.firstAnswer(async (node) => {
        const noted = await lookUp(node, asked, await knownHeader(node, 'latest'));
        return noted?.use && read(node, asked.account, noted.use.hash);
      }, signal),
    standing: (account, signal) =>
      agreedStanding(
        rpc,
        account,
        async (node) => standingIn(node, account as Address, await knownHeader(node, 'latest')),
        async (node, { blockNumber }) => standingIn(node, account as Address, await knownHeader(node, blockNumber)),
        signal,
      ),
    finality: ({ blockNumber, blockHash }, signal) =>
      rpc.answer(async (node) => {
        const there = await header(node, blockNumber);
        if (!there) return 'open';
        if (there.hash !== blockHash) return 'gone';
        const final = await finalHeight(node, await knownHeader(node, 'latest'), depths.finalLarge);
        return blockNumber <= final ? 'final' : 'open';
      }, signal),
  };
}

// Effects of a transaction on an account, from the transaction and its receipt.

/** Since EIP-7708 it logs movements of the coin, which are read from the transaction here. */
const systemAddress = '0xfffffffffffffffffffffffffffffffffffffffe';

/**
 * Tokens from their logs, and the coin that the transaction itself carries. No receipt reveals coin that contracts move. Others'
 * transactions count only for catalogue tokens.
 * @param account with its checksum
 */
function changesIn(
  chain: Chain,
  account: string,
  transaction: Transaction,
  { succeeded, logs }: Receipt,
): readonly BalanceChange[] {
  if (!succeeded) return [];
  const own = transaction.from.toLowerCase() === account.toLowerCase();
  const tokens = logs.flatMap((log) => {
    const asset =
      tokenAt(chain, log.address)?.address ?? (own ? checksummed(log.address.slice(2).toLowerCase()) : null);
    return asset === null ? [] : changeInLog(log, asset, account);
  });
  return [...coinIn(account, transaction), ...tokens];
}

/** Movement of an account in a log; nothing if the log is no token transfer from or to it. */
function changeInLog(log: RawLog, asset: string, account: string): readonly BalanceChange[] {
  const [topic, from, to, more] = log.topics;
  const isTransfer = topic === transferTopic && from && to && !more && log.data.length === 66;
  if (!isTransfer || log.removed || isAddressEqual(log.address, systemAddress)) return [];
  return moved(account, { asset, from: addressIn(from), to: addressIn(to), amount: BigInt(log.data) });
}

function coinIn(account: string, { from, to, value_wei }: Transaction): readonly BalanceChange[] {
  const spelled = (address: string) => checksummed(address.slice(2).toLowerCase());
  return moved(account, {
    asset: coin,
    from: spelled(from),
    to: to === undefined ? null : spelled(to),
    amount: value_wei,
  });
}

interface Move {
  readonly asset: string;
  readonly from: string;
  /** Null for a contract creation. */
  readonly to: string | null;
  readonly amount: bigint;
}

/** An account's payment to itself changes nothing. */
function moved(account: string, { asset, from, to, amount }: Move): readonly BalanceChange[] {
  if (amount === 0n || from === to) return [];
  if (from === account) return [{ asset, amount: -amount, counterparty: to }];
  return to === account ? [{ asset, amount, counterparty: from }] : [];
}
