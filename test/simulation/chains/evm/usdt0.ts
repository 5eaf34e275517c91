/**
 * USDT0 on a simulated EVM chain: the contract that sends and receives, and LayerZero's Endpoint, as far as the service and an executor call
 * them. Other parties verify and deliver messages (`world/executors.ts`).
 */
import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  keccak256,
  parseAbiParameters,
  zeroAddress,
} from 'viem';
import type { ChainId } from '../../../../domain/chains.ts';
import { address32 } from '../../../../domain/rebalance/burnMessage.ts';
import {
  chainOfEndpoint,
  counterpartyOn,
  endpointIdOf,
  isLocking,
  isUsdt0Chain,
  layerZeroEndpoint,
  oftOn,
  sendableOn,
  type Usdt0ChainId,
} from '../../../../domain/rebalance/usdt0.ts';
import { sandboxEndpoint } from '../../../../sandbox/contracts/artifacts/SandboxEndpoint.ts';
import { oftAbi } from '../../../../src/chains/evm/usdt0.ts';
import type { MessageStage, OftMessage } from '../../kernel/ports.ts';
import { type Block, busyBlocks, coinKey, type Log, tokenKey, valueAt } from './blocks.ts';
import { type Call, type Effect, move, type State } from './state.ts';
import { transferLog, wordOf } from './tokens.ts';

/** All in lower case. */
export interface Usdt0Contracts {
  readonly chainId: Usdt0ChainId;
  readonly token: string;
  readonly oft: string;
  readonly endpoint: string;
  /** Account of the other side of the token's logs. */
  readonly counterparty: string;
  /** Both contracts. */
  readonly all: ReadonlySet<string>;
}

export function usdt0On(chainId: ChainId): Usdt0Contracts | null {
  const token = sendableOn(chainId)?.address.toLowerCase();
  if (!isUsdt0Chain(chainId) || token === undefined) return null;
  const [oft, endpoint] = [oftOn(chainId).toLowerCase(), layerZeroEndpoint.toLowerCase()];
  return {
    chainId,
    token,
    oft,
    endpoint,
    counterparty: counterpartyOn(chainId).toLowerCase(),
    all: new Set([oft, endpoint]),
  };
}

/** Price of a message. */
const price_wei = 2n * 10n ** 14n;
const gasFor = { send: 70_000n, verify: 40_000n, receive: 80_000n };

const sentKey = (destination: number): string => `usdt0 sent ${destination}`;
const deliveredKey = (source: number): string => `usdt0 delivered ${source}`;
/** Hash of a message that is verified and not delivered. */
const heldKey = (source: number, nonce: bigint): string => `usdt0 held ${source} ${nonce}`;

/** @returns undefined when the call is reverted */
export function runUsdt0(state: State, call: Call, contracts: Usdt0Contracts): Effect | undefined {
  if (call.to === contracts.oft) return send(state, call, contracts);
  const { functionName, args } = decodeFunctionData({ abi: sandboxEndpoint.abi, data: call.data as Hex });
  if (functionName === 'verify') return verify(state, args as unknown as Verifying);
  return functionName === 'lzReceive' ? receive(state, args as unknown as Receiving, contracts) : undefined;
}

const digits = (value: bigint | number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

/** The excess of coin returns in the same transaction. */
function send(state: State, { from, data, value }: Call, contracts: Usdt0Contracts): Effect | undefined {
  const { functionName, args } = decodeFunctionData({ abi: oftAbi, data: data as Hex });
  if (functionName !== 'send') return undefined;
  const [{ dstEid, to, amountLD: amount, minAmountLD }, { nativeFee }, refundAddress] = args;
  const { chainId, token, oft, endpoint, counterparty } = contracts;
  const destination = chainOfEndpoint(dstEid);
  const key = (account: string) => tokenKey(token, account);
  if (destination === undefined || destination === chainId || value !== nativeFee || value < price_wei)
    return undefined;
  if (minAmountLD > amount || state.get(key(from)) < amount) return undefined;
  move(state, key, { from, to: counterparty, amount });
  move(state, coinKey, { from: oft, to: endpoint, amount: price_wei });
  move(state, coinKey, { from: oft, to: refundAddress.toLowerCase(), amount: value - price_wei });
  const nonce = state.get(sentKey(dstEid)) + 1n;
  state.set(sentKey(dstEid), nonce);
  const source = endpointIdOf(chainId);
  const ends = [digits(source, 4), address32(oft), digits(dstEid, 4), address32(oftOn(destination))];
  const path = `${digits(nonce, 8)}${ends.join('')}`;
  const guid = keccak256(`0x${path}`);
  const message = `${to.slice(2)}${digits(amount, 8)}`;
  const packet = `0x01${path}${guid.slice(2)}${message}` as Hex;
  const sent = encodeEventTopics({ abi: oftAbi, eventName: 'OFTSent', args: { guid, fromAddress: from as Hex } });
  return {
    gas: gasFor.send,
    logs: [
      transferLog(token, from, counterparty, amount),
      packetLog(endpoint, packet),
      { address: oft, topics: sent as string[], data: `0x${[BigInt(dstEid), amount, amount].map(wordOf).join('')}` },
    ],
  };
}

const packetParameters = parseAbiParameters('bytes, bytes, address');
const [packetTopic = ''] = encodeEventTopics({ abi: sandboxEndpoint.abi, eventName: 'PacketSent' }) as string[];

const packetLog = (endpoint: string, packet: Hex): Log => ({
  ...{ address: endpoint, topics: [packetTopic] },
  data: encodeAbiParameters(packetParameters, [packet, '0x', zeroAddress]),
});

interface Origin {
  readonly srcEid: number;
  readonly sender: Hex;
  readonly nonce: bigint;
}
type Verifying = readonly [Origin, Hex, Hex];
type Receiving = readonly [Origin, Hex, Hex, Hex, Hex];

/** A delivered message is not verified again. */
function verify(state: State, [{ srcEid, nonce }, , payloadHash]: Verifying): Effect | undefined {
  const key = heldKey(srcEid, nonce);
  if (nonce <= state.get(deliveredKey(srcEid)) && state.get(key) === 0n) return undefined;
  state.set(key, BigInt(payloadHash));
  return { gas: gasFor.verify, logs: [] };
}

/** Earlier messages of the path must be verified, in any order of delivery. */
function receive(state: State, [{ srcEid, nonce }, , guid, message]: Receiving, contracts: Usdt0Contracts) {
  const delivered = state.get(deliveredKey(srcEid));
  for (let earlier = delivered + 1n; earlier <= nonce; earlier += 1n)
    if (state.get(heldKey(srcEid, earlier)) === 0n) return undefined;
  if (state.get(heldKey(srcEid, nonce)) !== BigInt(keccak256(`0x${guid.slice(2)}${message.slice(2)}`)))
    return undefined;
  state.set(heldKey(srcEid, nonce), 0n);
  if (nonce > delivered) state.set(deliveredKey(srcEid), nonce);
  const { chainId, token, oft, counterparty } = contracts;
  const [to, amount] = [`0x${message.slice(26, 66)}`, BigInt(`0x${message.slice(66, 82)}`)];
  const key = (account: string) => tokenKey(token, account);
  if (isLocking(chainId) && state.get(key(oft)) < amount) return undefined;
  move(state, key, { from: counterparty, to, amount });
  const topics = encodeEventTopics({ abi: oftAbi, eventName: 'OFTReceived', args: { guid, toAddress: to as Hex } });
  const data = `0x${[BigInt(srcEid), amount].map(wordOf).join('')}`;
  const logs = [transferLog(token, counterparty, to, amount), { address: oft, topics: topics as string[], data }];
  return { gas: gasFor.receive, logs };
}

/** Answers a call without effects; undefined for other calls. */
export function readUsdt0(block: Block, to: string, data: string, contracts: Usdt0Contracts): string | undefined {
  if (to === contracts.oft) {
    const { functionName } = decodeFunctionData({ abi: oftAbi, data: data as Hex });
    if (functionName !== 'quoteSend') return undefined;
    const result = { nativeFee: price_wei, lzTokenFee: 0n };
    return encodeFunctionResult({ abi: oftAbi, functionName: 'quoteSend', result });
  }
  if (to !== contracts.endpoint) return undefined;
  const { functionName, args } = decodeFunctionData({ abi: sandboxEndpoint.abi, data: data as Hex });
  const [, source, , nonce = 0n] = args as readonly [Hex, number, Hex, bigint?];
  if (functionName === 'lazyInboundNonce') return `0x${wordOf(valueAt(block, deliveredKey(source)))}`;
  return functionName === 'inboundPayloadHash' ? `0x${wordOf(valueAt(block, heldKey(source, nonce)))}` : undefined;
}

/** Messages that left a chain up to a block, oldest first. */
export function messagesUpTo(tip: Block, { chainId, endpoint }: Usdt0Contracts): readonly OftMessage[] {
  const logs = [...busyBlocks(tip)].reverse().flatMap(({ mined }) => mined.flatMap((each) => each.logs));
  return logs
    .filter(({ address, topics: [topic] }) => address === endpoint && topic === packetTopic)
    .flatMap(({ data }) => {
      const [packet] = decodeAbiParameters(packetParameters, data as Hex);
      const part = (at: number, bytes?: number): Hex =>
        `0x${packet.slice(2 + 2 * at, bytes === undefined ? undefined : 2 + 2 * (at + bytes))}`;
      const to = chainOfEndpoint(Number(part(45, 4)));
      const fields = { nonce: BigInt(part(1, 8)), sender: part(13, 32), guid: part(81, 32), message: part(113) };
      return to === undefined ? [] : { from: chainId, to, ...fields };
    });
}

/** Stage of a message on its destination, as of a block. */
export function stageAt(block: Block, { from, nonce }: Pick<OftMessage, 'from' | 'nonce'>): MessageStage {
  const source = endpointIdOf(from as Usdt0ChainId);
  if (valueAt(block, heldKey(source, nonce)) !== 0n) return 'verified';
  return nonce <= valueAt(block, deliveredKey(source)) ? 'delivered' : 'unverified';
}

/** Calls of the Endpoint that verify and deliver a message. */
export function deliveryCalls({ from, to, nonce, sender, guid, message }: OftMessage) {
  const origin = { srcEid: endpointIdOf(from as Usdt0ChainId), sender: sender as Hex, nonce };
  const receiver = oftOn(to as Usdt0ChainId) as Hex;
  const hash = keccak256(`0x${guid.slice(2)}${message.slice(2)}`);
  const { abi } = sandboxEndpoint;
  const call = (data: Hex) => ({ address: layerZeroEndpoint, data });
  const args = [origin, receiver, guid as Hex, message as Hex, '0x'] as const;
  return {
    verify: call(encodeFunctionData({ abi, functionName: 'verify', args: [origin, receiver, hash] })),
    deliver: call(encodeFunctionData({ abi, functionName: 'lzReceive', args })),
  };
}
