/** Finds what a send of USDT0 left with LayerZero, and the transaction that delivered it: an executor sends that, or anyone. */
import {
  type Address,
  decodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { assert } from '../../../domain/decider.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import {
  endpointIdOf,
  isUsdt0Chain,
  layerZeroEndpoint,
  oftOn,
  type Usdt0ChainId,
} from '../../../domain/rebalance/usdt0.ts';
import { higher, lower } from '../../lib/concurrency.ts';
import { createBackwardSearch } from '../backwardSearch.ts';
import type { BlockRange } from '../historyPages.ts';
import type { MintFound } from '../mints.ts';
import { foundByAll } from '../node/agreement.ts';
import { ask, askEach } from '../node/jsonRpc.ts';
import {
  type ArrivalAsked,
  findSentMessage,
  type MessageState,
  type OftMessages,
  type SendAsked,
  type SentMessage,
} from '../oftMessages.ts';
import { topicOf } from './accounts.ts';
import type { EvmChainConfig } from './config.ts';
import { finalHeight } from './finality.ts';
import { knownHeader, quantity, type RawLog, receiptOf, toLogs, transferTopic } from './reads.ts';
import type { EvmNode, EvmRpc } from './rpc.ts';
import { oftAbi, quoteSend } from './usdt0.ts';

export const endpointAbi = parseAbi([
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
  'function lazyInboundNonce(address receiver, uint32 srcEid, bytes32 sender) view returns (uint64)',
  'function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) view returns (bytes32)',
]);

export function createOftMessages(
  { chainId, depths, rangeBlocksMax }: Pick<EvmChainConfig, 'chainId' | 'depths' | 'rangeBlocksMax'>,
  rpc: EvmRpc,
): OftMessages {
  assert(isUsdt0Chain(chainId), 'USDT0 is on this chain');
  const search = createBackwardSearch(rangeBlocksMax);

  async function arrival(node: EvmNode, asked: ArrivalAsked): Promise<MintFound | null> {
    if ((await stateAt(node, chainId as Usdt0ChainId, asked)) !== 'delivered') return null;
    const [topic] = encodeEventTopics({ abi: oftAbi, eventName: 'OFTReceived' });
    const topics = [topic, asked.guid, topicOf(asked.account)];
    const read = async ({ from, to }: BlockRange): Promise<RawLog | undefined> => {
      const blocks = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
      const filter = { address: oftOn(chainId as Usdt0ChainId), topics, ...blocks };
      const { logs } = await ask(node, 'eth_getLogs', [filter], toLogs);
      return logs.find(({ removed }) => !removed);
    };
    const head = await knownHeader(node, 'latest');
    const final = await finalHeight(node, head, depths.finalLarge);
    // An arrival that is not final yet is among the newest blocks: the older ones are not searched for it.
    const recent = { from: higher(final + 1n, head.number - BigInt(rangeBlocksMax) + 1n), to: head.number };
    if (recent.from <= recent.to && (await read(recent))) return null;
    const log = await search(`${node.name} ${asked.guid}`, { oldest: 0n, newest: final }, read);
    return log ? readArrival(node, log, asked) : null;
  }

  return {
    async sentBy(asked, signal) {
      const found = await rpc.all((node) => messageOf(node, chainId, asked), signal);
      return foundByAll(found, rpc.agree.usual, ['guid']);
    },
    async arrivalOf(asked, signal) {
      const found = await rpc.all((node) => arrival(node, asked), signal);
      return foundByAll(found, rpc.agree.usual, ['hash', 'blockHash', 'received']);
    },
    stateOf: (asked, signal) => rpc.answer((node) => stateAt(node, chainId, asked), signal),
    quote: (asked, signal) => rpc.answer((node) => quoteSend(node, chainId, asked), signal),
  };
}

/** Message of a send, if its receipt has exactly the one that the order describes. Another contract's logs prove nothing. */
async function messageOf(node: EvmNode, chainId: Usdt0ChainId, asked: SendAsked): Promise<SentMessage | null> {
  const receipt = await receiptOf(node, asked.hash);
  if (!receipt?.succeeded) return null;
  const isFrom = (address: string) => (log: RawLog) => log.address.toLowerCase() === address.toLowerCase();
  const [sentTopic] = encodeEventTopics({ abi: oftAbi, eventName: 'OFTSent' });
  const [packetTopic] = encodeEventTopics({ abi: endpointAbi, eventName: 'PacketSent' });
  const sent = receipt.logs
    .filter(isFrom(oftOn(chainId)))
    .filter(({ topics }) => topics[0]?.toLowerCase() === sentTopic);
  const [own, ...more] = sent;
  if (!own || more.length > 0 || own.topics[2]?.toLowerCase() !== topicOf(asked.account)) return null;
  const guid = own.topics[1]?.toLowerCase() ?? '';
  const packets = receipt.logs
    .filter(isFrom(layerZeroEndpoint))
    .filter(({ topics }) => topics[0]?.toLowerCase() === packetTopic)
    .map(({ data }) => decodeAbiParameters(parseAbiParameters('bytes, bytes, address'), data)[0]);
  // USDT has the 6 decimals of messages on EVM chains.
  return findSentMessage(packets, guid, { ...asked, from: chainId });
}

/** The Endpoint keeps the hash of a verified message until its delivery, and counts delivered messages per path. */
async function stateAt(
  node: EvmNode,
  chainId: Usdt0ChainId,
  { from, nonce }: Pick<ArrivalAsked, 'from' | 'nonce'>,
): Promise<MessageState> {
  const path = [oftOn(chainId) as Address, endpointIdOf(from), `0x${address32(oftOn(from))}`] as const;
  const calls = [
    encodeFunctionData({ abi: endpointAbi, functionName: 'inboundPayloadHash', args: [...path, nonce] }),
    encodeFunctionData({ abi: endpointAbi, functionName: 'lazyInboundNonce', args: path }),
  ];
  const [held = 0n, delivered = 0n] = await askEach(
    node,
    'eth_call',
    calls.map((data) => [{ to: layerZeroEndpoint, data }, 'latest']),
    quantity,
  );
  if (held !== 0n) return 'verified';
  return nonce <= delivered ? 'delivered' : 'unverified';
}

/** The log's amount, or the account's gain in tokens in that transaction, if that is less. */
async function readArrival(
  node: EvmNode,
  log: RawLog,
  { from, account, token }: ArrivalAsked,
): Promise<MintFound | null> {
  const receipt = await receiptOf(node, log.txHash);
  if (!receipt?.succeeded || log.data.length !== 2 + 2 * 64) return null;
  const [source, stated] = [BigInt(log.data.slice(0, 66)), BigInt(`0x${log.data.slice(66)}`)];
  if (source !== BigInt(endpointIdOf(from))) return null;
  const gained = receipt.logs
    .filter(({ address }) => address.toLowerCase() === token.toLowerCase())
    .filter(({ topics }) => topics[0]?.toLowerCase() === transferTopic && topics[2]?.toLowerCase() === topicOf(account))
    .reduce((sum, { data }) => sum + BigInt(data), 0n);
  const { hash, blockNumber, blockHash } = receipt;
  return { hash, blockNumber, blockHash, received: lower(stated, gained) };
}
