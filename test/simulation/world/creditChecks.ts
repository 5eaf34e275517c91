/** Checks that credit adds up: earned by payments, spent by buyers, received and withdrawn by merchants, and paid on the chains. */
import type { CashbackEvent } from '../../../domain/cashback.ts';
import type { CreditEvent } from '../../../domain/credit.ts';
import type { StoredEvent } from '../../../domain/decider.ts';
import { rescale } from '../../../domain/money.ts';
import { centDecimals, earningsOf } from '../../../domain/payment/cashback.ts';
import type { SimulatedChain } from '../kernel/ports.ts';
import type { Credit } from './credit.ts';
import type { Watched } from './invariants.ts';
import { Violation } from './violation.ts';

interface Recorded {
  readonly credit: Pick<Credit, 'spendings' | 'withdrawals'>;
  readonly watched: Pick<Watched, 'payments'>;
  /** All events of the log. */
  readonly events: readonly StoredEvent[];
  readonly chains: readonly SimulatedChain[];
  /** Wallet of the merchant's withdrawals. */
  readonly wallet: { readonly chain: SimulatedChain; readonly receiver: string };
}

/** @throws Violation */
export function checkCredit({ credit, watched, events, chains, wallet }: Recorded): void {
  const all = events as readonly unknown[] as readonly (CreditEvent | CashbackEvent)[];
  const of = <T extends (CreditEvent | CashbackEvent)['type']>(type: T) =>
    all.filter((event): event is Extract<CreditEvent | CashbackEvent, { readonly type: T }> => event.type === type);
  checkEarned(watched, of('CreditEarned'));
  checkSpent(credit, of('CreditSpent'), of('CashbackReceived'));
  checkWithdrawn(credit, watched, of('CashbackWithdrawn'), of('WithdrawalReturned'));
  checkPaid(watched, chains, wallet);
}

type Of<T extends (CreditEvent | CashbackEvent)['type']> = readonly Extract<
  CreditEvent | CashbackEvent,
  { readonly type: T }
>[];

/** Each payment that was paid out earned its payers' shares, and no other earned anything. */
function checkEarned({ payments }: Recorded['watched'], earned: Of<'CreditEarned'>): void {
  const textOf = (each: { paymentId: string; account: string; cents: bigint | string }) =>
    `${each.paymentId} ${each.account} ${each.cents}`;
  const owed = [...payments.values()].flatMap((payment) =>
    payment?.payout?.everSettled ? earningsOf(payment).map(textOf) : [],
  );
  const had = earned.map(({ data }) => textOf(data));
  same('earnedAsOwed', 'payments owe', owed, 'buyers earned', had);
}

/** A message that was answered with success paid once, no other paid, and the merchant got all that was spent. */
function checkSpent(
  { spendings }: Recorded['credit'],
  spent: Of<'CreditSpent'>,
  received: Of<'CashbackReceived'>,
): void {
  for (const { digest, cents, outcome, account } of spendings) {
    const own = spent.filter(({ data }) => data.digest === digest);
    const stated = own.reduce((sum, { data }) => sum + BigInt(data.cents), 0n);
    if (stated !== (outcome === 'spent' ? cents : 0n))
      throw new Violation('spentAsSaid', `${cents} cents of ${account} were ${outcome}, the log says ${stated}`);
  }
  const textOf = ({ data: { digest, cents, account } }: { data: { digest: string; cents: string; account: string } }) =>
    `${digest} ${account} ${cents}`;
  same('creditReachesMerchants', 'buyers spent', spent.map(textOf), 'merchants got', received.map(textOf));
}

/** A withdrawal has one payment, which is worth its cents; cents that returned belong to a payment that bounced. */
function checkWithdrawn(
  { withdrawals }: Recorded['credit'],
  { payments }: Recorded['watched'],
  withdrawn: Of<'CashbackWithdrawn'>,
  returned: Of<'WithdrawalReturned'>,
): void {
  for (const { paymentId, cents, withdrawalId } of withdrawals.filter(({ outcome }) => outcome === 'ordered')) {
    const own = withdrawn.find(({ data }) => data.paymentId === paymentId);
    if (BigInt(own?.data.cents ?? 0) !== cents)
      throw new Violation('cashbackAsSaid', `${withdrawalId} took ${cents} cents, the log says ${own?.data.cents}`);
  }
  for (const { data } of withdrawn) {
    const payment = payments.get(data.paymentId);
    const decimals = payment?.terms.source.token.decimals ?? centDecimals;
    if (payment?.funded?.received !== rescale(BigInt(data.cents), centDecimals, decimals))
      throw new Violation('cashbackAsSaid', `${data.paymentId} pays another sum out than ${data.cents} cents`);
    const back = returned.find((each) => each.data.paymentId === data.paymentId);
    if ((payment.closed?.kind === 'bounced') !== (back !== undefined))
      throw new Violation('cashbackAsSaid', `the cents of ${data.paymentId} did not return, or returned for nothing`);
  }
}

/** The merchant's wallet received the amounts of the withdrawals' payments. */
function checkPaid({ payments }: Recorded['watched'], chains: readonly SimulatedChain[], wallet: Recorded['wallet']) {
  const stated = [...payments.values()].reduce(
    (sum, payment) =>
      payment?.funded?.rule === 'cashback' && payment.payout?.settled ? sum + payment.payout.order.amount : sum,
    0n,
  );
  const paid = chains
    .flatMap(({ truth }) => truth.transfers())
    .filter(({ to }) => to.toLowerCase() === wallet.receiver.toLowerCase())
    .reduce((sum, { amount }) => sum + amount, 0n);
  if (paid !== stated) throw new Violation('cashbackAsSaid', `withdrawals paid out ${stated}, the chain has ${paid}`);
}

function same(
  invariant: string,
  ...[named, texts, named2, texts2]: [string, readonly string[], string, readonly string[]]
) {
  const [a, b] = [texts.toSorted().join(', '), texts2.toSorted().join(', ')];
  if (a !== b) throw new Violation(invariant, `${named} ${a}; ${named2} ${b}`);
}
