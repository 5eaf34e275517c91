/** What a transfer brought its receiver, as its receipt tells it. */
import { type Hex, isAddressEqual } from 'viem';
import type { Sent } from '../../ports.ts';
import { topicOf } from '../accounts.ts';
import { type Receipt, transferTopic } from '../reads.ts';

/**
 * The sum of the token's own transfers to the receiver, from the account or, of a flush, from its deposits. Logs of other contracts say
 * nothing: since EIP-7708 the system address logs movements of the coin in the same words.
 */
export function arrivedIn({ logs }: Pick<Receipt, 'logs'>, account: string, { token, receiver, form }: Sent): bigint {
  const from = form?.kind === 'flush' ? form.deposits.map(({ address }) => address) : [account];
  const senders = new Set(from.map(topicOf));
  const to = topicOf(receiver);
  return logs
    .filter(({ address, topics }) => isAddressEqual(address, token.address as Hex) && isTransfer(topics, senders, to))
    .reduce((sum, { data }) => sum + amountIn(data), 0n);
}

function isTransfer(topics: readonly Hex[], senders: ReadonlySet<string>, to: string): boolean {
  const [event, sender, receiver, ...others] = topics.map((topic) => topic.toLowerCase());
  return event === transferTopic && senders.has(sender ?? '') && receiver === to && others.length === 0;
}

const amountIn = (data: Hex): bigint => (data.length === 66 ? BigInt(data) : 0n);
