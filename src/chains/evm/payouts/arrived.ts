/** What a transfer brought its receiver, as its receipt tells it. */
import { type Hex, isAddressEqual } from 'viem';
import type { Cost } from '../../../../domain/transfer/shapes.ts';
import type { Sent } from '../../ports.ts';
import { topicOf } from '../accounts.ts';
import { type Receipt, transferTopic } from '../reads.ts';

/**
 * The sum of the token's own transfers to the receiver, from the account or, of a flush, from its deposits. Logs of other contracts say
 * nothing: since EIP-7708 the system address logs movements of the coin in the same words.
 */
export function arrivedIn(
  { logs }: Pick<Receipt, 'logs'>,
  account: string,
  { token, receiver, form, amount }: Sent,
): bigint {
  // The hash says what was signed, to the last wei: where it succeeded, that has moved.
  if (form?.kind === 'coin') return BigInt(amount);
  const from = form?.kind === 'flush' ? form.deposits.map(({ address }) => address) : [account];
  return movedIn(logs, token, { from, to: [receiver] });
}

/** What it took from the account that sent it; undefined where the node does not tell. */
export function costIn(receipt: Receipt, account: string, sent: Sent): Cost | undefined {
  if (receipt.fee_wei === undefined) return undefined;
  const left = leftIn(receipt, account, sent);
  return { payer: account, fee: receipt.fee_wei.toString(), ...(left !== undefined && { left: left.toString() }) };
}

/** What left of the token, where it is not what was ordered: a token may charge its sender, or move nothing. */
function leftIn({ succeeded, logs }: Receipt, account: string, { token, amount, form }: Sent): bigint | undefined {
  if (!succeeded || form) return undefined;
  const left = movedIn(logs, token, { from: [account] }) - movedIn(logs, token, { to: [account] });
  return left >= 0n && left !== BigInt(amount) ? left : undefined;
}

/** From any of some accounts, to any of some; left out: any at all. */
interface Between {
  readonly from?: readonly string[];
  readonly to?: readonly string[];
}

function movedIn(logs: Receipt['logs'], token: Sent['token'], { from, to }: Between): bigint {
  const [senders, receivers] = [from, to].map((accounts) => accounts && new Set<string>(accounts.map(topicOf)));
  const isMeant = (topics: readonly Hex[]) => {
    const [event, sender = '', receiver = '', ...others] = topics.map((topic) => topic.toLowerCase());
    const isTransfer = event === transferTopic && topics.length > 2 && others.length === 0;
    return isTransfer && (senders?.has(sender) ?? true) && (receivers?.has(receiver) ?? true);
  };
  return logs
    .filter(({ address, topics }) => isAddressEqual(address, token.address as Hex) && isMeant(topics))
    .reduce((sum, { data }) => sum + amountIn(data), 0n);
}

const amountIn = (data: Hex): bigint => (data.length === 66 ? BigInt(data) : 0n);
