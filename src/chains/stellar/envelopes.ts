/** Parties of a transaction, from its envelope. */
import { FeeBumpTransaction, StrKey, TransactionBuilder } from '@stellar/stellar-sdk';
import { accountOf } from './addresses.ts';

/** Accounts as G addresses, including muxed ones. */
export interface Parties {
  /** Account of the transaction's sequence number. */
  readonly source: string;
  readonly sequence: bigint;
  /** Account that pays the fee: for a fee bump it differs from the source. */
  readonly payer: string;
  /** Accounts that act in operations instead of the source; undefined if these cannot be decoded. */
  readonly acting: readonly string[] | undefined;
}

/**
 * Parses the beginning by hand: later operations may contain values of a newer protocol, which the SDK does not know.
 * @throws Error if it does not begin like an envelope
 */
export const partiesIn = (envelopeXdr: string, networkPassphrase: string): Parties => ({
  ...headOf(reading(Buffer.from(envelopeXdr, 'base64'))),
  acting: actingIn(envelopeXdr, networkPassphrase),
});

/** Hash memo of a transaction, also within a fee bump. Our own can be decoded; undecodable ones are ignored. */
export function hashMemoIn(envelopeXdr: string, networkPassphrase: string): string | undefined {
  try {
    const whole = TransactionBuilder.fromXDR(envelopeXdr, networkPassphrase);
    const { memo } = whole instanceof FeeBumpTransaction ? whole.innerTransaction : whole;
    return memo.type === 'hash' ? Buffer.from(memo.value ?? '').toString('hex') : undefined;
  } catch {
    return undefined;
  }
}

/** Kinds of envelopes (Stellar-transaction.x, EnvelopeType). */
const [oldest, usual, feeBump] = [0, 2, 5];
/** Account kind with a 64-bit id before the key. */
const muxed = 0x100;

function headOf(from: Reading): Omit<Parties, 'acting'> {
  const kind = from.uint32();
  if (kind !== feeBump) {
    const numbered = numberedIn(from, kind);
    return { ...numbered, payer: numbered.source };
  }
  const payer = from.account();
  from.int64(); // maximum fee
  return { ...numberedIn(from, from.uint32()), payer };
}

function numberedIn(from: Reading, kind: number): Pick<Parties, 'source' | 'sequence'> {
  if (kind !== oldest && kind !== usual) throw new Error(`envelopes of the kind ${kind} are not known`);
  const source = kind === oldest ? from.key() : from.account();
  from.uint32(); // maximum fee
  return { source, sequence: from.int64() };
}

type Reading = ReturnType<typeof reading>;

/** Reads XDR from its start. */
function reading(bytes: Buffer) {
  let at = 0;
  const take = (count: number): Buffer => {
    const taken = bytes.subarray(at, at + count);
    if (taken.length < count) throw new Error(`an envelope of ${bytes.length} bytes has an end too early`);
    at += count;
    return taken;
  };
  const uint32 = () => take(4).readUInt32BE();
  const int64 = () => take(8).readBigInt64BE();
  const key = () => StrKey.encodeEd25519PublicKey(take(32));
  const account = () => {
    if (uint32() === muxed) int64();
    return key();
  };
  return { uint32, int64, key, account };
}

function actingIn(envelopeXdr: string, networkPassphrase: string): readonly string[] | undefined {
  try {
    const parsed = TransactionBuilder.fromXDR(envelopeXdr, networkPassphrase);
    const { operations } = parsed instanceof FeeBumpTransaction ? parsed.innerTransaction : parsed;
    return operations.flatMap(({ source }) => (source === undefined ? [] : (accountOf(source) ?? [])));
  } catch {
    return undefined;
  }
}
