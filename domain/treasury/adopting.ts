/** Transactions of a treasury account that the log does not know: seen, and taken into it by an operator who knows what they were. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { TransactionAdopted, TreasuryEvent } from './events.ts';
import type { Outflow, TreasuryState } from './state.ts';

/** As the chain shows it, once it can leave it no more. */
export interface Strange {
  readonly hash: string;
  /** Of the account's own, the one that it used up; null for another account's, and where there are none. */
  readonly nonce: bigint | null;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly time: Instant;
  readonly succeeded: boolean;
  /** Of the chain's coin, in smallest units. */
  readonly fee: bigint;
  readonly changes: readonly StrangeChange[];
}

interface StrangeChange {
  readonly asset: string;
  /** In smallest units, negative for what left the account. */
  readonly amount: bigint;
  readonly counterparty: string | null;
}

/** As many as an event holds; whoever names more of them in one transaction did not pay us. */
const changesMax = 50;

/** Money of the account left by a transaction that nothing here records. Nothing is signed from then on. `[]` when that is known. */
export function reportOutflow(
  { opened, outflows, adopted }: TreasuryState,
  { hash, blockNumber, detail, now }: Outflow & { readonly blockNumber: bigint; readonly now: Instant },
): Decision<TreasuryEvent> {
  if (!opened || [...outflows, ...adopted].some((known) => known.hash === hash)) return [];
  const data = { hash, blockNumber: blockNumber.toString(), detail: detail.slice(0, 400), seenAt: now };
  return [{ type: 'OutflowSeen', data }];
}

/**
 * An operator knows what the transaction was. A purpose that had its nonce gets another one, and what was signed with it is dead; so
 * whatever the transaction paid must be on hold before. Adopted again, it changes nothing.
 * @param about `reason`: at most 400 characters
 */
export function adoptTransaction(
  state: TreasuryState,
  strange: Strange,
  { reason, now }: { readonly reason: string; readonly now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return refuse('illegalStep', 'this account never paid anything: there is nothing to adopt');
  if (state.adopted.some(({ hash }) => hash === strange.hash)) return [];
  const { nonce } = strange;
  if (nonce !== null && state.adopted.some((known) => known.nonce === nonce))
    return refuse('conflict', `another transaction with nonce ${nonce} is adopted: one of the two never was`);
  return [{ type: 'TransactionAdopted', data: adopted(state, strange, reason, now) }];
}

function adopted(state: TreasuryState, strange: Strange, reason: string, now: Instant): TransactionAdopted {
  const { hash, nonce, blockNumber, blockHash, time, succeeded, fee, changes } = strange;
  return {
    hash,
    nonce: nonce?.toString() ?? null,
    blockNumber: blockNumber.toString(),
    blockHash,
    time,
    succeeded,
    fee: fee.toString(),
    changes: changes
      .slice(0, changesMax)
      .map(({ asset, amount, counterparty }) => ({ asset, amount: amount.toString(), counterparty })),
    nextNonce: nextNonceAfter(state, nonce)?.toString() ?? null,
    reason,
    adoptedAt: now,
  };
}

/** Behind the nonce, and behind those that were adopted before it. */
function nextNonceAfter({ nextNonce, adopted: before }: TreasuryState, nonce: bigint | null): bigint | null {
  if (nextNonce === null || nonce === null) return nextNonce;
  const used = new Set([nonce, ...before.map((known) => known.nonce)]);
  let next = nextNonce;
  while (used.has(next)) next += 1n;
  return next;
}
