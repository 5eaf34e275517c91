/** Ledger headers since protocol 30: the consensus value contains the close time in milliseconds (CAP-88). */
import type { xdr } from '@stellar/stellar-sdk';
import type { LedgerHead } from '../ledger/network.ts';

/** The protocol that introduced them. */
export const millisecondsSince = 30;

/** STELLAR_VALUE_SIGNED_MS */
const signedInMilliseconds = 3;
/** Offset of the value's kind, after: the header's version, a hash, the transaction set's hash, the close time, and no upgrades. */
const kindAt = 4 + 32 + 32 + 8 + 4;

/**
 * Builds the header of a newer protocol from an older one's bytes, because the SDK of this project does not support the
 * new value.
 */
export function inMilliseconds(header: xdr.LedgerHeader, { closedAt_s }: LedgerHead): Buffer {
  const bytes = header.toXDR();
  const kind = Buffer.alloc(4);
  kind.writeUInt32BE(signedInMilliseconds);
  const closeTime_ms = Buffer.alloc(8);
  closeTime_ms.writeBigUInt64BE(BigInt(closedAt_s) * 1_000n);
  // An ed25519 key, and a signature of 64 bytes: neither is checked here.
  const node = Buffer.alloc(4 + 32);
  const signature = Buffer.concat([Buffer.from([0, 0, 0, 64]), Buffer.alloc(64)]);
  return Buffer.concat([bytes.subarray(0, kindAt), kind, closeTime_ms, node, signature, bytes.subarray(kindAt + 4)]);
}
