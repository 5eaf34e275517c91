import { createPublicKey, verify } from 'node:crypto';
import { type Address, getAddressEncoder, type Transaction } from '@solana/kit';

/** True if all required signers have signed exactly this transaction. */
export const isSigned = ({ signatures, messageBytes }: Transaction): boolean =>
  Object.entries(signatures).every(
    ([signer, signature]) =>
      signature !== null && verify(null, new Uint8Array(messageBytes), keyOf(signer as Address), signature),
  );

function keyOf(signer: Address) {
  const x = Buffer.from(getAddressEncoder().encode(signer)).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
