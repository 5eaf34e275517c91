/** Facts about an EVM chain's nodes for operators. */
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';
import { type Chain, chainOf, type Token } from '../../../domain/chains.ts';
import { isCctpChain } from '../../../domain/rebalance/cctp.ts';
import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import { instant } from '../../../domain/time.ts';
import { higher } from '../../lib/concurrency.ts';
import { type ChainHealth, createChainHealth, type MethodProbe, type NodeLook, tryMethods } from '../health.ts';
import { ask, askEach, text } from '../node/jsonRpc.ts';
import { simulate, suggestedTip } from './accounts.ts';
import { deployer } from './addresses.ts';
import { describeContracts } from './cctp.ts';
import type { EvmChainConfig, EvmChainId, FinalityTag } from './config.ts';
import { finalityTagOf } from './finality.ts';
import { header, knownHeader, transferLogs } from './reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from './rpc.ts';
import { describeUsdt0 } from './usdt0.ts';

const minute_ms = 60_000;

/**
 * Ethereum finalises epochs of 32 slots. Base and Arbitrum follow the batches that Ethereum finalised. The other chains vote on each block.
 */
const finalSteps_ms: Readonly<Record<EvmChainId, number>> = {
  1: 6.4 * minute_ms,
  8453: 10 * minute_ms,
  42161: 15 * minute_ms,
  137: 10_000,
  56: 1_000,
};

export function createEvmHealth(config: EvmChainConfig, rpc: EvmRpc): ChainHealth {
  const chain = chainOf(config.chainId);
  const tag = deepestTag(config.depths);
  return createChainHealth(chain, rpc, finalSteps_ms[config.chainId], {
    identity: genesisOf,
    look: (node) => look(node, tag),
    features: [
      { what: 'logs by block range', needed: true, tryOut: (node) => rangeOf(node, chain) },
      { what: 'logs by block hash', needed: true, tryOut: (node) => byHash(node, chain) },
      { what: 'several calls in one request', needed: false, tryOut: batches },
      { what: 'fees', needed: true, tryOut: async (node) => `a tip of ${await suggestedTip(node)} wei` },
      ...contractsOf(config.chainId),
      { what: 'methods', needed: true, tryOut: (node) => tryMethods(node, probesOf(chain)) },
    ],
    comparisons: [
      ...chain.tokens.flatMap((token) => [
        (node: EvmNode) => decimalsProblem(node, chain, token),
        (node: EvmNode) => symbolProblem(node, chain, token),
      ]),
      (node) => deployerProblem(node, chain),
    ],
    pace_ms,
  });
}

/** Chains without a protocol have none of it. */
const contractsOf = (chainId: EvmChainId) => [
  ...(isCctpChain(chainId)
    ? [{ what: 'rebalances by CCTP', needed: false, tryOut: (node: EvmNode) => describeContracts(node, chainId) }]
    : []),
  ...(isUsdt0Chain(chainId)
    ? [{ what: 'rebalances by USDT0', needed: false, tryOut: (node: EvmNode) => describeUsdt0(node, chainId) }]
    : []),
];

const noHash = `0x${'0'.repeat(64)}`;

/** One probe per method that the service requires. */
function probesOf({ tokens }: Chain): readonly MethodProbe[] {
  const to = tokens[0]?.address ?? '';
  const call = { to, data: encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }) };
  return [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_getBlockByHash', params: [noHash, false] },
    { method: 'eth_call', params: [call, 'latest'] },
    { method: 'eth_estimateGas', params: [call, 'latest'] },
    { method: 'eth_getBalance', params: [to, 'latest'] },
    { method: 'eth_getCode', params: [to, 'latest'] },
    { method: 'eth_getTransactionCount', params: [to, 'latest'] },
    { method: 'eth_getTransactionByHash', params: [noHash] },
    { method: 'eth_getTransactionReceipt', params: [noHash] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
    { method: 'eth_sendRawTransaction', params: ['0x00'], refusedAnyway: true },
  ];
}

/**
 * The genesis block's hash, from the first block's parent: a node may recreate block 0 at each start, as anvil does. A node without a first
 * block returns block 0 itself.
 */
async function genesisOf(node: EvmNode): Promise<string> {
  const first = await header(node, 1n).catch((error: unknown) => {
    if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
    throw error;
  });
  return first?.parentHash ?? (await knownHeader(node, 0n)).hash;
}

/** Deepest tag of the passes. */
function deepestTag(depths: EvmChainConfig['depths']): FinalityTag | null {
  const tags = [depths.final, depths.finalLarge].map(finalityTagOf);
  return tags.find((tag) => tag === 'finalized') ?? tags.find((tag) => tag !== undefined) ?? null;
}

async function look(node: EvmNode, tag: FinalityTag | null): Promise<NodeLook> {
  const { number, time_s } = await knownHeader(node, 'latest');
  const head = { blockNumber: number, time: instant(time_s * 1_000) };
  return { head, final: tag && (await finalBy(node, tag)) };
}

async function finalBy(node: EvmNode, tag: FinalityTag): Promise<NonNullable<NodeLook['final']>> {
  try {
    const found = await header(node, tag);
    return found ? { blockNumber: found.number } : { why: `it has no block for the tag ${tag}` };
  } catch (error) {
    if (error instanceof RpcFailed) return { why: error.message };
    throw error;
  }
}

const rangesTried = [2_000n, 500n, 100n, 10n];

/** Largest block range that the node answers, tried back from the head. */
async function rangeOf(node: EvmNode, { tokens }: Chain): Promise<string> {
  const { number: to } = await knownHeader(node, 'latest');
  const addresses = tokens.map(({ address }) => address);
  let failed: unknown;
  for (const blocks of rangesTried) {
    try {
      const { logs } = await transferLogs(node, addresses, { from: higher(to - blocks + 1n, 0n), to });
      return `${blocks} blocks at a time (${logs.length} transfers in the newest)`;
    } catch (error) {
      if (!(error instanceof RpcFailed)) throw error;
      failed = error;
    }
  }
  throw failed;
}

async function byHash(node: EvmNode, { tokens }: Chain): Promise<string> {
  const { hash } = await knownHeader(node, 'latest');
  await transferLogs(
    node,
    tokens.map(({ address }) => address),
    { blockHash: hash },
  );
  return 'yes';
}

const batchTried = 20;

async function batches(node: EvmNode): Promise<string> {
  await askEach(
    node,
    'eth_chainId',
    Array.from({ length: batchTried }, () => []),
    text,
  );
  return `${batchTried} calls are answered`;
}

/** Number of blocks for measuring the pace: enough that whole seconds suffice with five blocks a second. */
const paceBlocks = 1_000n;
const paceLeast = 100n;

async function pace_ms(node: EvmNode): Promise<number | undefined> {
  const latest = await knownHeader(node, 'latest');
  const blocks = latest.number > paceBlocks ? paceBlocks : latest.number - 1n;
  if (blocks < paceLeast) return undefined;
  const before = await knownHeader(node, latest.number - blocks);
  return ((latest.time_s - before.time_s) * 1_000) / Number(blocks);
}

async function read(node: EvmNode, { address }: Token, functionName: 'decimals' | 'symbol'): Promise<string> {
  const call = encodeFunctionData({ abi: erc20Abi, functionName });
  const data = await simulate(node, { to: address, data: call });
  try {
    return String(decodeFunctionResult({ abi: erc20Abi, functionName, data }));
  } catch {
    throw new RpcFailed(node.name, 'eth_call', 'malformed', `${address} tells no ${functionName}`);
  }
}

async function decimalsProblem(node: EvmNode, { id, name }: Chain, token: Token): Promise<string | undefined> {
  const decimals = await read(node, token, 'decimals');
  if (decimals === String(token.decimals)) return undefined;
  return (
    `${token.symbol} of ${name} (${token.address}) has ${decimals} decimals, and this release counts with ${token.decimals}: every amount ` +
    `would be wrong. Take RPC_URLS_${id} out until you have upgraded`
  );
}

/** Issuers rename tokens: Tether calls bridged tokens USD₮0. */
const otherNames: Readonly<Record<string, readonly string[]>> = { USDT: ['USD₮', 'USDT0', 'USD₮0'] };

async function symbolProblem(node: EvmNode, { name }: Chain, token: Token): Promise<string | undefined> {
  const symbol = await read(node, token, 'symbol');
  if (symbol === token.symbol || otherNames[token.symbol]?.includes(symbol)) return undefined;
  return `the token at ${token.address} of ${name} calls itself ${symbol.slice(0, 40)}, not ${token.symbol}: find out whether it is still the same one`;
}

async function deployerProblem(node: EvmNode, { name }: Chain): Promise<string | undefined> {
  const code = await ask(node, 'eth_getCode', [deployer, 'latest'], text);
  if (code !== '0x') return undefined;
  return `${name} has no deterministic deployer at ${deployer}: deposits there cannot be swept until it is deployed`;
}
