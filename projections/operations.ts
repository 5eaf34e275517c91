import { instanceOf } from '../domain/decider.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import { type Operation, standingOf } from '../domain/treasury/operation.ts';
import { ofStates, upsert } from './projection.ts';

/** What operators, and workers by their settings, have done with the treasury's money besides paying out. */
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
    standing: standingOf(after),
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
