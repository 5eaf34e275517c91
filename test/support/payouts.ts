import assert from 'node:assert/strict';
import type { Clock } from '../../commands/ports.ts';
import type {
  Numbering,
  NumberingAccount,
  SequenceNumbering,
  TransferOrder,
  Unsigned,
} from '../../commands/transferPorts.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import { serializeByKey } from '../../src/lib/concurrency.ts';
import { numberingMemory } from '../../src/workers/payouts/numberingAccounts.ts';
import { createUnsettledAmounts } from '../../src/workers/payouts/unsettledAmounts.ts';

/** State that one treasury's workers share in a new process. */
export function sharedBySigners(clock: Pick<Clock, 'now'>) {
  const turn = serializeByKey();
  const oneByOne = <T>(work: () => Promise<T>) => turn('treasury', work);
  return {
    memory: numberingMemory(),
    inTurn: oneByOne,
    unsettledAmounts: createUnsettledAmounts(async () => 0n, clock),
    look_ms: 1_000,
  };
}

interface FakeNumbers {
  /** Null on chains whose transfers expire. */
  readonly minedNonce: () => bigint | null;
  /** Default: the result of `minedNonce`. */
  readonly provenNonce?: () => bigint | null;
  /** Accounts with sequence numbers, including the treasury's own; null: it has only nonces. */
  readonly accounts?: readonly NumberingAccount[] | null;
}

/** Transactions of a fake rail; they get their numbers unchanged. */
interface FakeTransfers extends Pick<SequenceNumbering, 'prepareCancel'> {
  prepare(order: TransferOrder, nonce: bigint | null, replaces?: SignedAttempt, numberedBy?: string): Promise<Unsigned>;
}

/** The numbering of a fake chain as it is now. */
export function fakeNumbering(numbers: FakeNumbers, { prepare, prepareCancel }: FakeTransfers): Numbering {
  if (numbers.minedNonce() === null) return { kind: 'expiring', prepare: (order) => prepare(order, null) };
  const minedNonce = async () => numbers.minedNonce() ?? assert.fail('the chain has nonces');
  const numbered = (unsigned: Unsigned, nonce: bigint) => ({ ...unsigned, nonce });
  const transfers = { minedNonce, prepare, numbered, prepareCancel };
  const { accounts, provenNonce = numbers.minedNonce } = numbers;
  return accounts
    ? { kind: 'sequence', ...transfers, accounts: async () => accounts }
    : { kind: 'nonce', ...transfers, provenNonce: async () => provenNonce() };
}
