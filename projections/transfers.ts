import { batchOwed } from '../domain/batch/batch.ts';
import { instanceOf } from '../domain/decider.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import { owedBy } from '../domain/payment/backing.ts';
import { transferId } from '../domain/payment/events.ts';
import { rebalanceOwed } from '../domain/rebalance/rebalance.ts';
import { relayOwed } from '../domain/relay/relay.ts';
import type { Instant } from '../domain/time.ts';
import type { Owed, TransferLeg } from '../domain/transfer/leg.ts';
import { type Operation, operationOwed, operationStatus } from '../domain/treasury/operation.ts';
import { unmatchedRefundsOwed } from '../domain/unmatched.ts';
import { ofEvents, ofStates, type RowChange, upsert } from './projection.ts';

/**
 * Each transfer that a payment owes or has made, with its next step. One row change per event: the due time must not depend on the batch
 * size.
 */
export const transfersOfPayments = ofEvents('transfersOfPayments', (seen) => {
  if (seen.category !== 'payment') return [];
  const { before, after, stored } = seen;
  return transferRows(before ? owedBy(before) : [], owedBy(after), stored.metadata.at);
});

/** Transfer of each treasury operation. */
export const transfersOfOperations = ofEvents('transfersOfOperations', (seen) => {
  if (seen.category !== 'operation') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  const owed = before ? [operationOwed(id, before)] : [];
  return transferRows(owed, [operationOwed(id, after)], stored.metadata.at);
});

/** The burn of each rebalance, and its mint once the burn is attested. */
export const transfersOfRebalances = ofEvents('transfersOfRebalances', (seen) => {
  if (seen.category !== 'rebalance') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  return transferRows(before ? rebalanceOwed(id, before) : [], rebalanceOwed(id, after), stored.metadata.at);
});

/** Transaction of each batch of payouts. Its members have their own rows. */
export const transfersOfBatches = ofEvents('transfersOfBatches', (seen) => {
  if (seen.category !== 'payoutBatch') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  return transferRows(before ? [batchOwed(id, before)] : [], [batchOwed(id, after)], stored.metadata.at);
});

/** Transactions that send payers' authorizations. */
export const transfersOfRelays = ofEvents('transfersOfRelays', (seen) => {
  if (seen.category !== 'relay') return [];
  const { before, after, stored } = seen;
  const id = instanceOf(stored.stream);
  return transferRows(before ? [relayOwed(id, before)] : [], [relayOwed(id, after)], stored.metadata.at);
});

/** Refunds of unmatched money. */
export const transfersOfUnmatched = ofEvents('transfersOfUnmatched', (seen) => {
  if (seen.category !== 'unmatched') return [];
  const { before, after, stored } = seen;
  return transferRows(unmatchedRefundsOwed(before), unmatchedRefundsOwed(after), stored.metadata.at);
});

/** Rows of changed transfers. @param at time of the event: the next step is due since then */
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

/** Treasury operations of operators, and of workers by their settings, besides payouts. */
export const operations = ofStates('operations', 'operation', ({ after, stored }) => {
  const { ordered, leg, approvedBy } = after;
  const { chainId, token, expects } = ordered;
  const hashes = leg.attempts.map(({ signed }) => signed.hash);
  const row = {
    operation_id: instanceOf(stored.stream),
    kind: ordered.kind,
    chain_id: chainId,
    account: ordered.account,
    token_symbol: token.symbol,
    token_address: token.address,
    amount: formatAmount(BigInt(ordered.amount), token.decimals),
    value_usd: formatAmount(BigInt(ordered.value_microUsd), microUsdDecimals),
    receiver_address: ordered.receiver,
    receiver_memo: ordered.receiverMemo,
    standing: operationStatus(after),
    reason: ordered.reason,
    ordered_by: ordered.by,
    approved_by: approvedBy[0],
    ordered_at: ordered.orderedAt,
    changed_at: stored.metadata.at,
    tx_hash: leg.settled?.hash ?? leg.short?.hash ?? hashes.at(-1),
    tx_hashes: hashes,
    arrived: arrivedOf(after),
    expects_chain_id: expects?.chainId,
    expects_account: expects?.account,
    arrived_tx_hash: after.arrived?.hash,
  };
  return [upsert('operations', row)];
});

function arrivedOf({ ordered: { token }, leg: { short }, brought, arrived }: Operation): string | null {
  const there = arrived?.amount ?? brought ?? short?.arrived ?? null;
  return there === null ? null : formatAmount(there, token.decimals);
}

/** Status as operators read it. */
function unmatchedStandingOf({ settled, short, attempts }: TransferLeg): string {
  if (settled) return 'done';
  if (short) return 'short';
  return attempts.length > 0 ? 'signed' : 'ordered';
}

/** Unmatched transfers, and the decision about each. */
export const unmatchedPayins = ofStates(
  'unmatched',
  'unmatched',
  ({ after: { transfer, beyond, seenAt, verdict, refund: leg } }) => {
    const assigned = verdict.kind === 'assigned' ? verdict : null;
    const refund = verdict.kind === 'refundRequested' ? verdict : null;
    const row = {
      transfer_id: transferId(transfer),
      chain_id: transfer.chainId,
      tx_hash: transfer.txHash,
      index: transfer.index,
      block_number: transfer.blockNumber,
      block_time: transfer.blockTime,
      token_symbol: transfer.token.symbol,
      token_address: transfer.token.address,
      from_address: transfer.from,
      to_address: transfer.to,
      memo: transfer.memo,
      amount: formatAmount(BigInt(transfer.amount), transfer.token.decimals),
      beyond_payment: beyond?.paymentId,
      seen_at: seenAt,
      verdict: verdict.kind,
      decided_at: assigned?.assignedAt ?? refund?.requestedAt,
      payment_id: assigned?.paymentId,
      app_id: assigned?.appId,
      refund_address: refund?.receiverAddress,
      refund_memo: refund?.receiverMemo,
      refund_reason: refund?.reason,
      refund_amount: leg ? formatAmount(leg.order.amount, leg.order.token.decimals) : undefined,
      refund_standing: leg ? unmatchedStandingOf(leg) : undefined,
      refund_tx_hash: leg?.attempts.at(-1)?.signed.hash,
    };
    return [upsert('unmatched', row)];
  },
);
