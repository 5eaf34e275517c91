import { instanceOf } from '../domain/decider.ts';
import { formatAmount } from '../domain/money.ts';
import { owedBy } from '../domain/payment/owed.ts';
import type { Instant } from '../domain/time.ts';
import type { Owed } from '../domain/transfer/owed.ts';
import { operationOwed } from '../domain/treasury/operation.ts';
import { unmatchedRefundOwed } from '../domain/unmatchedRefund.ts';
import { ofStates, type RowChange, upsert } from './projection.ts';

/** Each transfer that a payment owes or has made, and its next step. */
export const transfersOfPayments = ofStates('transfersOfPayments', 'payment', ({ before, after, stored }) =>
  transferRows(before ? owedBy(before) : [], owedBy(after), stored.metadata.at),
);

/** The transfer that each operation of the treasury is. */
export const transfersOfOperations = ofStates('transfersOfOperations', 'operation', ({ before, after, stored }) => {
  const id = instanceOf(stored.stream);
  const owed = before ? [operationOwed(id, before)] : [];
  return transferRows(owed, [operationOwed(id, after)], stored.metadata.at);
});

/** The way back of money that no payment takes up. */
export const transfersOfUnmatched = ofStates('transfersOfUnmatched', 'unmatched', ({ before, after, stored }) => {
  const [former, owed] = [unmatchedRefundOwed(before), unmatchedRefundOwed(after)];
  return transferRows(former ? [former] : [], owed ? [owed] : [], stored.metadata.at);
});

/** Rows of those that changed. @param at when the last of the events was written that changed them: the next step is due since then */
export function transferRows(before: readonly Owed[], after: readonly Owed[], at: Instant): readonly RowChange[] {
  const known = new Map(before.map((owed) => [owed.purpose.reference, owed]));
  return after
    .filter((owed) => !isSame(known.get(owed.purpose.reference), owed))
    .map((owed) => upsert('transfers', inColumns(owed, at)));
}

const isSame = (before: Owed | undefined, { leg, step }: Owed): boolean =>
  before !== undefined && before.leg === leg && before.step.do === step.do;

const inColumns = ({ purpose, appId, leg, step }: Owed, at: Instant) => ({
  reference: purpose.reference,
  kind: purpose.kind,
  chain_id: leg.order.chainId,
  token_address: leg.order.token.address,
  amount: formatAmount(leg.order.amount, leg.order.token.decimals),
  app_id: appId ?? '',
  step: step.do,
  due_at: at,
  signed: leg.attempts.length > 0,
  settled_at: leg.settled?.confirmedAt,
});
