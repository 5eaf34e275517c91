import { createPublicKey, verify } from 'node:crypto';
import { type Address, getAddressEncoder, type Transaction } from '@solana/kit';

/** Whether all who must sign a transaction have signed it, just as it is. */
export const isSigned = ({ signatures, messageBytes }: Transaction): boolean =>
  Object.entries(signatures).every(
    ([signer, signature]) =>
      signature !== null && verify(null, new Uint8Array(messageBytes), keyOf(signer as Address), signature),
  );

function keyOf(signer: Address) {
  const x = Buffer.from(getAddressEncoder().encode(signer)).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
