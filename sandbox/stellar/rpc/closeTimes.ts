/** Ledger headers since protocol 30: what consensus agreed on holds the close time in milliseconds (CAP-88). */
import type { xdr } from '@stellar/stellar-sdk';
import type { LedgerHead } from '../ledger/network.ts';

/** The protocol that introduced them. */
export const millisecondsSince = 30;

/** STELLAR_VALUE_SIGNED_MS */
const signedInMilliseconds = 3;
/** Offset of the value's kind, after: the header's version, a hash, the transaction set's hash, the close time, and no upgrades. */
const kindAt = 4 + 32 + 32 + 8 + 4;

/**
 * The bytes of a header of an older protocol as a newer one has them, built by hand: SDKs that know no such value cannot read them,
 * and the one that this project uses is such an SDK.
 */
export function inMilliseconds(header: xdr.LedgerHeader, { closedAt_s }: LedgerHead): Buffer {
  const bytes = header.toXDR();
  const kind = Buffer.alloc(4);
  kind.writeUInt32BE(signedInMilliseconds);
  const closeTime_ms = Buffer.alloc(8);
  closeTime_ms.writeBigUInt64BE(BigInt(closedAt_s) * 1_000n);
  // An ed25519 key, and a signature of 64 bytes: nobody checks either here.
  const node = Buffer.alloc(4 + 32);
  const signature = Buffer.concat([Buffer.from([0, 0, 0, 64]), Buffer.alloc(64)]);
  return Buffer.concat([bytes.subarray(0, kindAt), kind, closeTime_ms, node, signature, bytes.subarray(kindAt + 4)]);
}
