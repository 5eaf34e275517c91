/** The methods that a node answers, as go-ethereum does. */
import { payMany } from '../../../../contracts/evm/artifacts/PayMany.ts';
import { RpcError } from '../../../../sandbox/rpcError.ts';
import { payManyAddress } from '../../../../src/chains/evm/payMany.ts';
import {
  blockAnswer,
  gasLimit,
  gasUsedIn,
  type LogFilter,
  logsAnswer,
  quantity,
  receiptAnswer,
  transactionAnswer,
} from './answers.ts';
import { type Block, busyBlocks, codeKey, coinKey, nonceKey, valueAt } from './blocks.ts';
import { answerCall, type CallAsked, estimate } from './calls.ts';
import { isDeployer } from './execution.ts';
import { checkWeather, type NodeView } from './node.ts';
import { decode } from './transactions.ts';

type Params = readonly unknown[];
type Method = (node: NodeView, params: Params) => unknown;

const refused = (message: string, code = -32_000): RpcError => new RpcError(code, message);
const lower = (value: unknown): string => String(value).toLowerCase();

/** Number of states that full nodes keep. */
const states = 128;
const statesPruned = 3;
/** Blocks whose logs or receipts are not available yet. */
const late_blocks = 2;

/** The block that a tag or a height means. */
function blockAt(node: NodeView, tag: unknown): Block | undefined {
  const tip = node.tip();
  if (tag === 'finalized') return node.finalized();
  if (tag === 'safe')
    return node.tree.at(tip, Math.max(node.finalized().number, tip.number - node.pace.forkMost_blocks));
  if (tag === 'earliest') return node.tree.at(tip, 0);
  if (typeof tag !== 'string' || !tag.startsWith('0x')) return tip;
  return node.tree.at(tip, Number(tag));
}

/** @throws RpcError if its state is no longer available, or not yet */
function stateAt(node: NodeView, tag: unknown): Block {
  const block = blockAt(node, tag);
  if (!block) throw refused('header not found');
  const kept = node.spells.has('prunes') ? statesPruned : states;
  if (block.number < node.tip().number - kept)
    throw refused(`missing trie node ${block.hash.slice(2)} (path ) state is not available`);
  return block;
}

function byHash(node: NodeView, hash: unknown): Block | undefined {
  const block = node.tree.byHash(lower(hash));
  return block && node.tree.isOn(node.tip(), block) ? block : undefined;
}

const placeOf = (node: NodeView, hash: unknown) =>
  node.spells.has('hidesTransactions') ? undefined : node.tree.placeOn(node.tip(), lower(hash));

function logs(node: NodeView, [asked]: Params): readonly object[] {
  const filter = asked as LogFilter & { blockHash?: string; fromBlock?: unknown; toBlock?: unknown };
  if (node.spells.has('hidesLogs')) return [];
  const tip = node.tip();
  if (filter.blockHash !== undefined) {
    const block = byHash(node, filter.blockHash);
    if (!block) throw refused('unknown block');
    return logsAnswer(block, filter, block.number);
  }
  const [from, to] = [blockAt(node, filter.fromBlock), blockAt(node, filter.toBlock)];
  const isStrict = node.number % 2 === 1;
  if (isStrict && (!from || !to)) throw refused('block range extends beyond current head block');
  if (!from) return [];
  const known = tip.number - (node.spells.has('searchesLate') ? late_blocks : 0);
  const end = node.tree.at(tip, Math.min(to?.number ?? tip.number, known));
  return end && end.number >= from.number ? logsAnswer(end, filter, from.number) : [];
}

function receipt(node: NodeView, [hash]: Params): object | null {
  const place = placeOf(node, hash);
  const isLate = node.spells.has('indexesLate') && place && place.block.number > node.tip().number - late_blocks;
  return place && !isLate ? receiptAnswer(place, node.pace.extraFee_wei) : null;
}

function transaction(node: NodeView, [hash]: Params): object | null {
  const place = placeOf(node, hash);
  const mined = place?.block.mined[place.at];
  if (place && mined) return transactionAnswer(mined.transaction, place);
  const waiting = node.spells.has('hidesTransactions') ? undefined : node.pool.get(lower(hash));
  return waiting ? transactionAnswer(waiting) : null;
}

function receipts(node: NodeView, [asked]: Params): readonly (object | null)[] | null {
  const block = String(asked).length > 60 ? byHash(node, asked) : blockAt(node, asked);
  return block ? block.mined.map((_, at) => receiptAnswer({ block, at }, node.pace.extraFee_wei)) : null;
}

function send(node: NodeView, [raw]: Params): string {
  const sent = decode(String(raw), node.networkId);
  if (node.spells.has('swallows')) return sent.hash;
  node.pool.add(sent, node.tip());
  node.tell(sent);
  return sent.hash;
}

function feeHistory(node: NodeView, [count, newest]: Params): object {
  const last = blockAt(node, newest);
  if (!last) throw refused('request beyond head block');
  const first = Math.max(0, last.number - Number(count) + 1);
  const blocks = Array.from({ length: last.number - first + 1 }, (_, at) => node.tree.at(last, first + at));
  return {
    oldestBlock: quantity(first),
    gasUsedRatio: blocks.map((block) => (block ? Number(gasUsedIn(block)) / Number(gasLimit) : 0)),
    baseFeePerGas: [...blocks, last].map((block) => quantity(block?.baseFee_wei ?? 0n)),
  };
}

/** Erigon, Reth and some others have an index of them. */
function bySender(node: NodeView, [account, nonce]: Params): object | null {
  if (node.number % 2 === 0)
    throw refused('the method eth_getTransactionBySenderAndNonce does not exist/is not available', -32_601);
  for (const block of busyBlocks(node.tip())) {
    const at = block.mined.findIndex(
      ({ transaction: { from, nonce: used } }) => from === lower(account) && used === Number(nonce),
    );
    const found = block.mined[at];
    if (found) return transactionAnswer(found.transaction, { block, at });
  }
  return null;
}

const answerOr = (block: Block | undefined, whole: unknown): object | null =>
  block ? blockAnswer(block, whole === true) : null;

const methods: Readonly<Record<string, Method>> = {
  eth_chainId: ({ networkId }) => quantity(networkId),
  eth_blockNumber: (node) => quantity(node.tip().number),
  eth_getBlockByNumber: (node, [tag, whole]) => answerOr(blockAt(node, tag), whole),
  eth_getBlockByHash: (node, [hash, whole]) => answerOr(byHash(node, hash), whole),
  eth_getLogs: logs,
  eth_getTransactionReceipt: receipt,
  eth_getTransactionByHash: transaction,
  eth_getBlockReceipts: receipts,
  eth_sendRawTransaction: send,
  eth_getTransactionCount: (node, [account, tag]) => quantity(valueAt(stateAt(node, tag), nonceKey(lower(account)))),
  eth_getBalance: (node, [account, tag]) => quantity(valueAt(stateAt(node, tag), coinKey(lower(account)))),
  eth_getCode(node, [account, tag]) {
    const address = lower(account);
    if (address === payManyAddress.toLowerCase()) return payMany.code;
    const { tokens } = node.contracts;
    const has = isDeployer(address) || tokens.has(address) || valueAt(stateAt(node, tag), codeKey(address)) > 0n;
    return has ? '0x6001' : '0x';
  },
  eth_call: (node, [asked, tag, overrides]) =>
    answerCall(
      stateAt(node, tag),
      asked as CallAsked,
      node,
      overrides as Readonly<Record<string, unknown>> | undefined,
    ),
  eth_estimateGas: (node, [asked, tag]) => quantity(estimate(stateAt(node, tag), asked as CallAsked, node)),
  eth_maxPriorityFeePerGas: ({ tip_wei, spells }) => quantity(spells.has('asksForMore') ? tip_wei * 100n : tip_wei),
  eth_feeHistory: feeHistory,
  eth_getTransactionBySenderAndNonce: bySender,
};

/** @throws NodeAway, RpcError */
export function answer(node: NodeView, method: string, params: unknown): unknown {
  checkWeather(node);
  const known = methods[method];
  if (!known) throw refused(`the method ${method} does not exist/is not available`, -32_601);
  return known(node, params as Params);
}
