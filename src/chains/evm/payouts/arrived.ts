/** What a transfer brought its receiver, as its receipt tells it. */
import { type Hex, isAddressEqual } from 'viem';
import type { Cost } from '../../../../domain/transfer/shapes.ts';
import { lower } from '../../../lib/bigints.ts';
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
  if (form?.kind === 'payMany')
    return broughtIn({ logs }, account, { token, form }).reduce((sum, each) => sum + each, 0n);
  // The hash says what was signed, to the last wei: where it succeeded, that has moved.
  if (form?.kind === 'coin') return BigInt(amount);
  const from = form?.kind === 'flush' ? form.deposits.map(({ address }) => address) : [account];
  return movedIn(logs, token, { from, to: [receiver] });
}

type PaidMany = Pick<Sent, 'token'> & { readonly form: Extract<NonNullable<Sent['form']>, { kind: 'payMany' }> };

/**
 * What a batch brought each of its payments, in their order, and no more than was ordered. Each log counts for one of them: of two payments
 * with the same receiver and amount, one log pays one.
 */
export function broughtIn(
  { logs }: { readonly logs: readonly Pick<Receipt['logs'][number], 'address' | 'topics' | 'data'>[] },
  account: string,
  { token, form }: PaidMany,
): readonly bigint[] {
  const [from, left] = [topicOf(account), logs.filter(({ address, topics }) => isTransferOf(token, address, topics))];
  const take = (receiver: string, is: (amount: bigint) => boolean): bigint | undefined => {
    const to = topicOf(receiver);
    const at = left.findIndex(
      ({ topics, data }) => topics[1]?.toLowerCase() === from && topics[2]?.toLowerCase() === to && is(amountIn(data)),
    );
    return at < 0 ? undefined : amountIn(left.splice(at, 1)[0]?.data ?? '0x');
  };
  const exact = form.payments.map(({ receiver, amount }) => take(receiver, (each) => each === amount));
  return form.payments.map(({ receiver, amount }, at) => lower(exact[at] ?? take(receiver, () => true) ?? 0n, amount));
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
    const [, sender = '', receiver = ''] = topics.map((topic) => topic.toLowerCase());
    return (senders?.has(sender) ?? true) && (receivers?.has(receiver) ?? true);
  };
  return logs
    .filter(({ address, topics }) => isTransferOf(token, address, topics) && isMeant(topics))
    .reduce((sum, { data }) => sum + amountIn(data), 0n);
}

const isTransferOf = (token: Sent['token'], address: Hex, topics: readonly Hex[]): boolean =>
  isAddressEqual(address, token.address as Hex) && topics[0]?.toLowerCase() === transferTopic && topics.length === 3;

const amountIn = (data: Hex): bigint => (data.length === 66 ? BigInt(data) : 0n);
