/** What a payout brought its receiver, as its receipt tells it. */
import { type Hex, isAddressEqual } from 'viem';
import type { Sent } from '../../ports.ts';
import { topicOf } from '../accounts.ts';
import { type Receipt, transferTopic } from '../reads.ts';

/**
 * The sum of the token's own transfers from the account to the receiver. Logs of other contracts say nothing: since EIP-7708 the system
 * address logs movements of the coin in the same words.
 */
export function arrivedIn({ logs }: Pick<Receipt, 'logs'>, account: string, { token, receiver }: Sent): bigint {
  const topics = [transferTopic, topicOf(account), topicOf(receiver)];
  return logs
    .filter((log) => isAddressEqual(log.address, token.address as Hex) && isSame(log.topics, topics))
    .reduce((sum, { data }) => sum + amountIn(data), 0n);
}

const isSame = (topics: readonly Hex[], wanted: readonly string[]): boolean =>
  topics.length === wanted.length && topics.every((topic, at) => topic.toLowerCase() === wanted[at]);

const amountIn = (data: Hex): bigint => (data.length === 66 ? BigInt(data) : 0n);
