import { batchOwed } from '../domain/batch/batch.ts';
import { instanceOf } from '../domain/decider.ts';
import { formatAmount } from '../domain/money.ts';
import { owedBy } from '../domain/payment/owed.ts';
import type { Instant } from '../domain/time.ts';
import type { Owed } from '../domain/transfer/owed.ts';
import { operationOwed } from '../domain/treasury/operation.ts';
import { unmatchedRefundsOwed } from '../domain/unmatchedRefund.ts';
import { ofEvents, type RowChange, upsert } from './projection.ts';

/**
 * Each transfer that a payment owes or has made, and its next step. Of each event by itself: since when a step is due must not depend on
 * how many events were read at a time.
 */
export const transfersOfPayments = ofEvents('transfersOfPayments', (seen) => {
  if (seen.category !== 'payment') return [];
  const { before, after, stored } = seen;
  return transferRows(before ? owedBy(before) : [], owedBy(after), stored.metadata.at);
});

/** The transfer that each operation of the treasury is. */
export const transfersOfOperations = ofEvents('transfersOfOperations', (seen) => {
  if (seen.category !== 'operation') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  const owed = before ? [operationOwed(id, before)] : [];
  return transferRows(owed, [operationOwed(id, after)], stored.metadata.at);
});

/** The one transaction of each batch of payouts. Its members have rows of their own. */
export const transfersOfBatches = ofEvents('transfersOfBatches', (seen) => {
  if (seen.category !== 'payoutBatch') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  return transferRows(before ? [batchOwed(id, before)] : [], [batchOwed(id, after)], stored.metadata.at);
});

/** The way back of money that no payment takes up. */
export const transfersOfUnmatched = ofEvents('transfersOfUnmatched', (seen) => {
  if (seen.category !== 'unmatched') return [];
  const { before, after, stored } = seen;
  return transferRows(unmatchedRefundsOwed(before), unmatchedRefundsOwed(after), stored.metadata.at);
});

/** Rows of those that changed. @param at when the event was written that changed them: the next step is due since then */
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
