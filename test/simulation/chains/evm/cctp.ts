/** CCTP on a simulated EVM chain: the contracts that burn and mint, as far as the service and strangers call them. */
import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
} from 'viem';
import type { ChainId } from '../../../../domain/chains.ts';
import {
  address32,
  burnMessageVersion,
  formatBurnMessage,
  parseBurnMessage,
  zero32,
} from '../../../../domain/rebalance/burnMessage.ts';
import {
  burnableOn,
  cctpContracts,
  chainOfDomain,
  contractsOn,
  domainOf,
  isCctpChain,
} from '../../../../domain/rebalance/cctp.ts';
import { messengerAbi, transmitterAbi } from '../../../../src/chains/evm/cctp.ts';
import { type Block, busyBlocks, type Log, tokenKey, valueAt } from './blocks.ts';
import { type Call, type Effect, move, type State } from './state.ts';
import { transferLog, wordOf } from './tokens.ts';

const eventsAbi = parseAbi([
  'event MessageSent(bytes message)',
  'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)',
]);
const [messenger, transmitter, minter] = [cctpContracts.messenger, cctpContracts.transmitter, cctpContracts.minter].map(
  (address) => address.toLowerCase(),
) as [string, string, string];
const feeRecipient = '0x00000000000000000000000000000000000c1c1e';
const gasFor = { burn: 80_000n, mint: 90_000n };

export interface Cctp {
  readonly domain: number;
  /** In lower case. */
  readonly token: string;
}

export function cctpOn(chainId: ChainId): Cctp | null {
  const token = burnableOn(chainId)?.address.toLowerCase();
  return isCctpChain(chainId) && token !== undefined ? { domain: domainOf(chainId), token } : null;
}

export const isCctpContract = (address: string): boolean => address === messenger || address === transmitter;

const usedKey = (nonce: string): string => `cctp used ${nonce}`;

/** Stands for the attesters' signatures: the contract compares it. 65 bytes, of which the first 32 are the message's hash. */
export const attestationOf = (message: string): string => `${keccak256(message as Hex)}${'00'.repeat(33)}`;

/** @returns undefined when the call is reverted */
export const runCctp = (state: State, call: Call, cctp: Cctp): Effect | undefined =>
  call.to === messenger ? burn(state, call, cctp) : mint(state, call, cctp);

function burn(state: State, { from, data }: Call, { domain, token }: Cctp): Effect | undefined {
  const { functionName, args } = decodeFunctionData({ abi: messengerAbi, data: data as Hex });
  if (functionName !== 'depositForBurn' && functionName !== 'depositForBurnWithHook') return undefined;
  const [amount, destinationDomain, mintRecipient, burnToken, destinationCaller, feeMax, minFinality, hook] = args;
  const destination = chainOfDomain(destinationDomain);
  const key = (account: string) => tokenKey(token, account);
  if (destination === undefined || destinationDomain === domain || burnToken.toLowerCase() !== token) return undefined;
  if (amount === 0n || feeMax >= amount || state.get(key(from)) < amount) return undefined;
  move(state, key, { from, to: minter, amount });
  const message = formatBurnMessage({
    ...{ version: burnMessageVersion, sourceDomain: domain, destinationDomain, nonce: zero32 },
    ...{ sender: address32(messenger), recipient: address32(contractsOn(destination).messenger) },
    ...{ destinationCaller: destinationCaller.slice(2), minFinality, finalityExecuted: 0 },
    ...{ burnVersion: burnMessageVersion, burnToken: address32(token), mintRecipient: mintRecipient.slice(2), amount },
    ...{ messageSender: address32(from), feeMax, feeExecuted: 0n, expirationBlock: 0n, hookData: hook?.slice(2) ?? '' },
  });
  return { gas: gasFor.burn, logs: [transferLog(token, from, minter, amount), sentLog(message as Hex)] };
}

const [sentTopic = ''] = encodeEventTopics({ abi: eventsAbi, eventName: 'MessageSent' }) as string[];
const sentParameters = parseAbiParameters('bytes');
const sentLog = (message: Hex): Log => ({
  ...{ address: transmitter, topics: [sentTopic] },
  data: encodeAbiParameters(sentParameters, [message]),
});

function mint(state: State, { from, data }: Call, { domain, token }: Cctp): Effect | undefined {
  const { functionName, args } = decodeFunctionData({ abi: transmitterAbi, data: data as Hex });
  const [text, attestation] = args ?? [];
  if (functionName !== 'receiveMessage' || text === undefined) return undefined;
  const message = parseBurnMessage(text.toLowerCase());
  if (!message || attestation !== attestationOf(text) || message.destinationDomain !== domain) return undefined;
  const { nonce, amount, feeExecuted: fee, expirationBlock, sourceDomain, sender, finalityExecuted } = message;
  if (state.get(usedKey(nonce)) !== 0n) return undefined;
  if (expirationBlock !== 0n && BigInt(state.number) >= expirationBlock) return undefined;
  state.set(usedKey(nonce), 1n);
  const recipient = `0x${message.mintRecipient.slice(-40)}`;
  const logs = [[recipient, amount - fee] as const, [feeRecipient, fee] as const].flatMap(([to, minted]) => {
    state.set(tokenKey(token, to), state.get(tokenKey(token, to)) + minted);
    return minted === 0n ? [] : transferLog(token, zeroAddress, to, minted);
  });
  const indexed = { caller: from as Hex, nonce: `0x${nonce}` as Hex, finalityThresholdExecuted: finalityExecuted };
  const topics = encodeEventTopics({ abi: eventsAbi, eventName: 'MessageReceived', args: indexed }) as string[];
  const rest = [sourceDomain, `0x${sender}` as Hex, `0x${text.slice(2 + 2 * 148)}` as Hex] as const;
  const body = encodeAbiParameters(parseAbiParameters('uint32, bytes32, bytes'), rest);
  return { gas: gasFor.mint, logs: [...logs, { address: transmitter, topics, data: body }] };
}

/** Answers a call without effects; undefined for other calls. */
export function readCctp(block: Block, to: string, data: string): string | undefined {
  if (to !== transmitter) return undefined;
  const { functionName, args } = decodeFunctionData({ abi: transmitterAbi, data: data as Hex });
  if (functionName !== 'usedNonces') return undefined;
  return `0x${wordOf(valueAt(block, usedKey(String(args[0]).slice(2).toLowerCase())))}`;
}

/** Message that a transaction left up to a block. */
export function burnMessageOf(tip: Block, hash: string): string | undefined {
  for (const { mined } of busyBlocks(tip)) {
    const found = mined.find(({ transaction }) => transaction.hash === hash);
    const log = found?.logs.find(({ address, topics: [topic] }) => address === transmitter && topic === sentTopic);
    if (log) return decodeAbiParameters(sentParameters, log.data as Hex)[0];
  }
  return undefined;
}

export const isUsed = (block: Block, nonce: string): boolean => valueAt(block, usedKey(nonce)) !== 0n;
