/** Transactions as they are sent: read, checked and applied as stellar-core does, as far as payments go. */
import { createPublicKey, verify } from 'node:crypto';
import { type Asset, type FeeBumpTransaction, StrKey, type Transaction } from '@stellar/stellar-sdk';
import { parseEnvelope, type Submitted } from '../../../../sandbox/stellar/transactions/envelope.ts';
import type { InvalidCode } from '../../../../sandbox/stellar/transactions/validity.ts';
import { balanceKey, type Ledgers, type Moved, native, sequenceKey } from './ledgers.ts';

export const baseFee = 100n;

const known = new Map<string, Submitted>();
const knownMost = 1_000;

/** @throws Error when it is no envelope */
export function read(envelopeXdr: string, passphrase: string): Submitted {
  const before = known.get(envelopeXdr);
  if (before) return before;
  if (known.size >= knownMost) known.clear();
  const submitted = parseEnvelope(envelopeXdr, passphrase);
  known.set(envelopeXdr, submitted);
  return submitted;
}

/** Prefix of a 32-byte key in Node's format (RFC 8410). */
const keyHead = Buffer.from('302a300506032b6570032100', 'hex');

function isSignedBy(account: string, { signatures, hash }: Signed): boolean {
  const key = createPublicKey({
    key: Buffer.concat([keyHead, StrKey.decodeEd25519PublicKey(account)]),
    format: 'der',
    type: 'spki',
  });
  return signatures.some((each) => verify(null, hash, key, each.signature()));
}

interface Signed {
  readonly signatures: Transaction['signatures'];
  readonly hash: Buffer;
}

const signedOf = (transaction: Transaction | FeeBumpTransaction): Signed => ({
  signatures: transaction.signatures,
  hash: transaction.hash(),
});

/** Cached result of the signature check. */
const signed = new WeakMap<Submitted, boolean>();

function isSigned(submitted: Submitted): boolean {
  const found =
    signed.get(submitted) ??
    (isSignedBy(submitted.source, signedOf(submitted.transaction)) &&
      (!submitted.feeBump || isSignedBy(submitted.feePayer, signedOf(submitted.feeBump))));
  signed.set(submitted, found);
  return found;
}

/** State while a ledger is closed. */
export interface Entries {
  get(key: string): bigint | undefined;
  set(key: string, value: bigint): void;
  readonly changes: Map<string, bigint>;
}

export function entriesAt(ledgers: Ledgers, sequence: number): Entries {
  const changes = new Map<string, bigint>();
  return {
    changes,
    get: (key) => changes.get(key) ?? ledgers.valueAt(sequence, key),
    set: (key, value) => void changes.set(key, value),
  };
}

export const feeOf = ({ operationsPaid }: Submitted): bigint => baseFee * BigInt(operationsPaid);

/** @param closesAt_s of the ledger that it would go into @returns undefined: it may */
export function problemOf(submitted: Submitted, entries: Entries, closesAt_s: number): InvalidCode | undefined {
  const { transaction, source, feePayer, feeMax } = submitted;
  const maxTime = Number(transaction.timeBounds?.maxTime ?? 0);
  if (maxTime !== 0 && maxTime < closesAt_s) return 'txTooLate';
  if (feeMax < feeOf(submitted)) return 'txInsufficientFee';
  const sequence = entries.get(sequenceKey(source));
  if (sequence === undefined) return 'txNoAccount';
  if (BigInt(transaction.sequence) !== sequence + 1n) return 'txBadSeq';
  if (!isSigned(submitted)) return 'txBadAuth';
  const lumens = entries.get(balanceKey(native, feePayer)) ?? 0n;
  return lumens < feeOf(submitted) ? 'txInsufficientBalance' : undefined;
}

export const assetText = (asset: Asset): string =>
  asset.isNative() ? native : `${asset.getCode()}:${asset.getIssuer()}`;

const units = 10_000_000;
const unitsIn = (amount: string): bigint => {
  const [whole = '0', part = ''] = amount.split('.');
  return BigInt(whole) * BigInt(units) + BigInt(part.padEnd(7, '0'));
};

/** Charges the fee and uses the number, then applies the payment. @returns null: it failed, and moved nothing */
export function apply(submitted: Submitted, entries: Entries): readonly Moved[] | null {
  const { transaction, source, feePayer } = submitted;
  const change = (key: string, by: bigint) => entries.set(key, (entries.get(key) ?? 0n) + by);
  change(balanceKey(native, feePayer), -feeOf(submitted));
  entries.set(sequenceKey(source), BigInt(transaction.sequence));
  const moved = transaction.operations.map((operation): Moved | 'nothing' | null => {
    if (operation.type === 'bumpSequence') return 'nothing';
    if (operation.type !== 'payment') return null;
    const asset = assetText(operation.asset);
    const [from, to] = [operation.source ?? source, accountIn(operation.destination)];
    const amount = unitsIn(operation.amount);
    const [held, there] = [from, to].map((account) => entries.get(balanceKey(asset, account)));
    if (held === undefined || held < amount || there === undefined) return null;
    return { asset, from, to, amount, memo: memoOf(transaction) };
  });
  if (moved.includes(null)) return null;
  const payments = moved.filter((each) => each !== null && each !== 'nothing');
  for (const { asset, from, to, amount } of payments) {
    change(balanceKey(asset, from), -amount);
    change(balanceKey(asset, to), amount);
  }
  return payments;
}

const accountIn = (destination: string): string =>
  destination.startsWith('M')
    ? StrKey.encodeEd25519PublicKey(StrKey.decodeMed25519PublicKey(destination).subarray(0, 32))
    : destination;

/** Memo in the service's spelling. */
function memoOf({ memo }: Transaction): string | null {
  if (memo.type === 'none') return null;
  return String(memo.value);
}

/** A fee bump replaces what waits only for ten times as much. */
export const outbids = ({ feeBump, feeMax, transaction }: Submitted, other: Submitted): boolean =>
  feeBump !== undefined && transaction.sequence === other.transaction.sequence && feeMax >= other.feeMax * 10n;
