/** Account facts from nodes: transactions, nonce, balances, and simulated calls. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex, pad } from 'viem';
import { ask, askEach, list, object, optional } from '../node/jsonRpc.ts';
import { approvalTopic, type BlockTag, hex, type LogsShown, quantity, tagOf, toLogs, transferTopic } from './reads.ts';
import type { EvmNode } from './rpc.ts';

export interface Transaction {
  readonly hash: Hex;
  readonly from: Address;
  readonly nonce: bigint;
  /** Undefined for a contract creation. */
  readonly to: Address | undefined;
  readonly value_wei: bigint;
}

export const transactionOf = (node: EvmNode, hash: string): Promise<Transaction | undefined> =>
  ask(node, 'eth_getTransactionByHash', [hash], (answer) => optional(answer, toTransaction));

/** Transactions that the node has, in the order of the hashes. */
export const transactionsByHash = (
  node: EvmNode,
  hashes: readonly string[],
): Promise<readonly (Transaction | undefined)[]> =>
  askEach(
    node,
    'eth_getTransactionByHash',
    hashes.map((hash) => [hash]),
    (answer) => optional(answer, toTransaction),
  );

/** The transactions of a block. */
export const transactionsAt = (node: EvmNode, blockNumber: bigint) =>
  ask(node, 'eth_getBlockByNumber', [numberToHex(blockNumber), true], (answer) =>
    list(object(answer)['transactions']).map(toTransaction),
  );

export const nonceAt = (node: EvmNode, account: string, tag: BlockTag): Promise<bigint> =>
  ask(node, 'eth_getTransactionCount', [account, tagOf(tag)], quantity);

export const coinBalance = (node: EvmNode, account: string, tag: BlockTag = 'latest'): Promise<bigint> =>
  ask(node, 'eth_getBalance', [account, tagOf(tag)], quantity);

export const suggestedTip = (node: EvmNode): Promise<bigint> => ask(node, 'eth_maxPriorityFeePerGas', [], quantity);

interface Call {
  readonly from?: string;
  readonly to: string;
  readonly data: Hex;
  /** Wei to send along. */
  readonly value?: bigint;
  readonly gas?: Hex;
}

/** Simulates a call. @returns its result @throws RpcFailed `refused` if it reverts */
export const simulate = (node: EvmNode, call: Call): Promise<Hex> => ask(node, 'eth_call', [call, 'latest'], hex);

/** Runs code as if it were deployed at an account. @returns `0x` from a node that ignores the code @throws RpcFailed as `simulate` */
export const simulateAs = (
  node: EvmNode,
  { account, code, data }: { readonly account: string; readonly code: Hex; readonly data: Hex },
): Promise<Hex> => ask(node, 'eth_call', [{ to: account, data }, 'latest', { [account]: { code } }], hex);

export const hasCode = async (node: EvmNode, address: string): Promise<boolean> =>
  (await ask(node, 'eth_getCode', [address, 'latest'], hex)) !== '0x';

/** Gas limit of a block. */
export const blockGasLimit = (node: EvmNode): Promise<bigint> =>
  ask(node, 'eth_getBlockByNumber', ['latest', false], (answer) => quantity(object(answer)['gasLimit']));

/** In the token's smallest unit. @throws RpcFailed also if there is no token at the address */
export function tokenBalance(
  node: EvmNode,
  account: Address,
  token: string,
  tag: BlockTag = 'latest',
): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] });
  return ask(node, 'eth_call', [{ to: token, data }, tagOf(tag)], quantity);
}

/** Estimated on mined state. On pending state, our own pending transfer would make its replacement look too cheap. */
export const gasNeeded = (node: EvmNode, { value, ...call }: Call): Promise<bigint> =>
  ask(node, 'eth_estimateGas', [{ ...call, ...(value && { value: numberToHex(value) }) }, 'latest'], quantity);

interface Blocks {
  readonly from: bigint;
  readonly to: bigint;
}

/** An account as a topic of transfer logs. */
export const topicOf = (account: string): Hex => pad(account.toLowerCase() as Hex, { size: 32 });

/** Outgoing transfers of an account in any token; since EIP-7708 also of the coin. */
export const logsFrom = (node: EvmNode, account: string, { from, to }: Blocks): Promise<LogsShown> => {
  const topics = [transferTopic, topicOf(account)];
  const filter = { topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  return ask(node, 'eth_getLogs', [filter], toLogs);
};

/**
 * Transfers of some tokens from and to an account, and its allowances: a node without old states returns the transactions of both. Old
 * tokens log an allowance for each transfer by another account.
 */
export const logsOfAccount = (node: EvmNode, account: string, tokens: readonly string[], blocks: Blocks) =>
  logsWith(node, tokens, blocks, [
    [[transferTopic, approvalTopic], topicOf(account)],
    [transferTopic, null, topicOf(account)],
  ]);

/** Transfers of some tokens from and to accounts; a transfer between two of them is listed twice. */
export async function logsOfAccounts(
  node: EvmNode,
  accounts: readonly string[],
  tokens: readonly string[],
  blocks: Blocks,
): Promise<LogsShown> {
  const own = accounts.map(topicOf);
  return logsWith(node, tokens, blocks, [
    [transferTopic, own],
    [transferTopic, null, own],
  ]);
}

async function logsWith(
  node: EvmNode,
  tokens: readonly string[],
  { from, to }: Blocks,
  topics: readonly [readonly unknown[], readonly unknown[]],
): Promise<LogsShown> {
  const range = { address: tokens, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  const filters = topics.map((each) => [{ ...range, topics: each }]);
  const [sent, received] = await askEach(node, 'eth_getLogs', filters, toLogs);
  const both = [sent, received].flatMap((shown) => shown ?? []);
  return { logs: both.flatMap(({ logs }) => logs), broken: both.flatMap(({ broken }) => broken) };
}

/** Hash of an account's transaction with a nonce, from nodes with such an index. @throws RpcFailed `refused` by other nodes */
export const transactionBySender = (node: EvmNode, account: string, nonce: bigint): Promise<string | undefined> =>
  ask(node, 'eth_getTransactionBySenderAndNonce', [account, numberToHex(nonce)], (answer) =>
    optional(answer, (found) => toTransaction(found).hash),
  );

function toTransaction(answer: unknown): Transaction {
  const { hash, from, nonce, to, value } = object(answer);
  return {
    hash: hex(hash),
    from: hex(from),
    nonce: quantity(nonce),
    to: optional(to, hex),
    value_wei: optional(value, quantity) ?? 0n,
  };
}
