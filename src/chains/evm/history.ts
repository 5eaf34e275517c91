/**
 * What its transactions did to an account. Tokens are found by their logs; what the account sent by the states of its nonce, as far as a
 * node keeps them. No node lists coin that others send, or contracts.
 */
import type { Address } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { inParallel } from '../../lib/mapLimit.ts';
import { readPage } from '../historyPages.ts';
import { agreedStanding } from '../money/standing.ts';
import {
  type AccountHistory,
  type AccountTransaction,
  coin,
  type HistoryAsked,
  type HistoryPage,
  type Standing,
} from '../ports.ts';
import { coinBalance, nonceAt, tokenBalance, transactionOf } from './accounts.ts';
import { changesIn } from './changes.ts';
import type { EvmChainConfig } from './config.ts';
import { finalHeight } from './finality.ts';
import { happenedIn } from './happened.ts';
import { callsAtOnce } from './payins/calls.ts';
import { createNonceUses } from './payouts/nonceUse.ts';
import { type Header, header, knownHeader, receiptOf } from './reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from './rpc.ts';
import { transfersOfMany } from './transfersOf.ts';

type Config = Pick<EvmChainConfig, 'chainId' | 'depths' | 'rangeBlocksMax'>;

export function createEvmHistory({ chainId, depths, rangeBlocksMax }: Config, anyRpc: EvmRpc): AccountHistory {
  const chain = chainOf(chainId);
  const tokens = chain.tokens.map(({ address }) => address);
  const rpc = anyRpc.as('late');
  const lookUp = createNonceUses(rangeBlocksMax);

  /** @throws RpcFailed when the node does not show it whole */
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

  /** @throws RpcFailed also when a fork comes between the calls */
  async function standingIn(node: EvmNode, account: Address, { number, hash, time_s }: Header): Promise<Standing> {
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
      rpc.first(async (node) => {
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
