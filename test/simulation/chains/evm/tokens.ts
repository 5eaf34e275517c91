/** ERC-20 as far as transfers go: calls as bytes, and the logs that they leave. */
import type { Log } from './blocks.ts';

export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const selectors = {
  transfer: '0xa9059cbb',
  balanceOf: '0x70a08231',
  decimals: '0x313ce567',
  symbol: '0x95d89b41',
  allowance: '0xdd62ed3e',
  /** EIP-3009. */
  transferWithAuthorization: '0xe3ee160e',
  authorizationState: '0xe94a0102',
  domainSeparator: '0x3644e515',
} as const;

/** `AuthorizationUsed(address,bytes32)` */
const authorizationUsedTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

const word_digits = 64;

export const wordOf = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(word_digits, '0');

/** A word of a call's arguments. */
export const argument = (data: string, at: number): string =>
  data.slice(10 + at * word_digits, 10 + (at + 1) * word_digits);

export const addressArgument = (data: string, at: number): string => `0x${argument(data, at).slice(-40)}`;
export const numberArgument = (data: string, at: number): bigint => BigInt(`0x${argument(data, at) || '0'}`);

export const callOfTransfer = (to: string, amount: bigint): string =>
  `${selectors.transfer}${wordOf(to)}${wordOf(amount)}`;

export const transferLog = (token: string, from: string, to: string, amount: bigint): Log => ({
  address: token,
  topics: [transferTopic, `0x${wordOf(from)}`, `0x${wordOf(to)}`],
  data: `0x${wordOf(amount)}`,
});

export const authorizationLog = (token: string, payer: string, nonce: string): Log => ({
  address: token,
  topics: [authorizationUsedTopic, `0x${wordOf(payer)}`, nonce],
  data: '0x',
});

export const addressOfTopic = (topic = ''): string => `0x${topic.slice(-40)}`;
