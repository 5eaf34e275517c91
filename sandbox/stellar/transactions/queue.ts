/** Transactions that wait for the next ledger: one for each source account, as nodes keep them. */
import type { LedgerHead } from '../ledger/network.ts';
import type { LedgerState } from '../ledger/state.ts';
import type { Submitted } from './envelope.ts';
import { type Refusal, resourceFeeOf, validate } from './validity.ts';

export type Admission =
  | { readonly status: 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER' }
  | { readonly status: 'ERROR'; readonly refusal: Refusal };

export interface TransactionQueue {
  /** @param next ledger that would contain it */
  admit(submitted: Submitted, state: LedgerState, next: LedgerHead): Admission;
  /**
   * Empties it for a ledger, in the order of arrival. Transactions that the ledger refuses, for example because of their time, are not
   * accepted again for some ledgers.
   */
  take(ledger: number): readonly Submitted[];
}

const waitingMax = 1_000;
/** A fee bump replaces a waiting transaction only when it offers this many times as much. */
const replacementFactor = 10n;

export function createQueue(): TransactionQueue {
  const waiting = new Map<string, Submitted>();
  /** Ledger of each transaction by hash, in that order. */
  const taken = new Map<string, number>();
  return {
    admit(submitted, state, next) {
      if (isBanned(taken.get(submitted.hash), next.sequence - 1)) return { status: 'TRY_AGAIN_LATER' };
      const other = waiting.get(submitted.source);
      if (other && hashesOf(other).includes(submitted.hash)) return { status: 'DUPLICATE' };
      if (other && !mayReplace(submitted, other)) return { status: 'TRY_AGAIN_LATER' };
      const refusal = validate(submitted, state, next) ?? (other && underbid(submitted, other));
      if (refusal) return { status: 'ERROR', refusal };
      if (!other && waiting.size >= waitingMax) return { status: 'TRY_AGAIN_LATER' };
      waiting.set(submitted.source, submitted);
      return { status: 'PENDING' };
    },
    take(ledger) {
      const all = [...waiting.values()];
      waiting.clear();
      for (const [hash, at] of taken) {
        if (isBanned(at, ledger)) break;
        taken.delete(hash);
      }
      for (const { hash } of all) taken.set(hash, ledger);
      return all;
    },
  };
}

/** A node refuses a transaction for this many ledgers after the one that held or refused it. */
const banned_ledgers = 8;

/** @param at the ledger that held or refused a transaction @param head the newest ledger */
export const isBanned = (at: number | undefined, head: number): boolean =>
  at !== undefined && head - at <= banned_ledgers;

const hashesOf = ({ hash, innerHash }: Submitted): readonly (string | undefined)[] => [hash, innerHash];

const mayReplace = (submitted: Submitted, other: Submitted) =>
  submitted.feeBump !== undefined && submitted.transaction.sequence === other.transaction.sequence;

/** Compares offers per operation, without resource fees. */
function underbid(submitted: Submitted, other: Submitted): Refusal | undefined {
  const [own, others] = [BigInt(submitted.operationsPaid), BigInt(other.operationsPaid)];
  const needed = (inclusionOf(other) * replacementFactor * own + others - 1n) / others;
  if (inclusionOf(submitted) >= needed) return undefined;
  return { verdict: 'txInsufficientFee', feeCharged: needed + resourceFeeOf(submitted.sorobanData) };
}

const inclusionOf = ({ feeMax, sorobanData }: Submitted): bigint => feeMax - resourceFeeOf(sorobanData);
