/** Treasury transactions that the log does not know: detected, and adopted by an operator who knows them. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { TransactionAdopted, TreasuryEvent } from './events.ts';
import type { Outflow, TreasuryState } from './state.ts';

/** As its chain returns it, once it is final. */
export interface UnrecordedTransaction {
  readonly hash: string;
  /** Nonce of this account that it used up; null if another account's, or if the chain has none. */
  readonly nonce: bigint | null;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly time: Instant;
  readonly succeeded: boolean;
  /** In smallest units of the chain's coin. */
  readonly fee: bigint;
  readonly changes: readonly StrangeChange[];
}

interface StrangeChange {
  readonly asset: string;
  /** In smallest units, negative for an outgoing amount. */
  readonly amount: bigint;
  readonly counterparty: string | null;
}

/** Maximum changes of an event; a transaction with more changes is no payment to the treasury. */
const changesMax = 50;

/** A transaction without a record moved the account's money. Nothing is signed from then on. Returns `[]` if it is known. */
export function reportOutflow(
  { opened, outflows, adopted }: TreasuryState,
  { hash, blockNumber, detail, now }: Outflow & { readonly blockNumber: bigint; readonly now: Instant },
): Decision<TreasuryEvent> {
  if (!opened || [...outflows, ...adopted].some((known) => known.hash === hash)) return [];
  const data = { hash, blockNumber: blockNumber.toString(), detail: detail.slice(0, 400), seenAt: now };
  return [{ type: 'OutflowSeen', data }];
}

/**
 * An operator explains the transaction. A purpose that had its nonce gets another one, and its signatures are dead, so payouts paid by the
 * transaction must be on hold before. A repeated adoption changes nothing.
 * @param about `reason`: at most 400 characters
 */
export function adoptTransaction(
  state: TreasuryState,
  strange: UnrecordedTransaction,
  { reason, now }: { readonly reason: string; readonly now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return refuse('illegalStep', 'this account never paid anything: there is nothing to adopt');
  if (state.adopted.some(({ hash }) => hash === strange.hash)) return [];
  const { nonce } = strange;
  if (nonce !== null && state.adopted.some((known) => known.nonce === nonce))
    return refuse('conflict', `another transaction with nonce ${nonce} is adopted: one of the two never was`);
  return [{ type: 'TransactionAdopted', data: adopted(state, strange, reason, now) }];
}

function adopted(
  state: TreasuryState,
  strange: UnrecordedTransaction,
  reason: string,
  now: Instant,
): TransactionAdopted {
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

/** The next nonce after this one and earlier adopted ones. */
function nextNonceAfter({ nextNonce, adopted: before }: TreasuryState, nonce: bigint | null): bigint | null {
  if (nextNonce === null || nonce === null) return nextNonce;
  const used = new Set([nonce, ...before.map((known) => known.nonce)]);
  let next = nextNonce;
  while (used.has(next)) next += 1n;
  return next;
}
