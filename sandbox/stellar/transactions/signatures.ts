/** Checks that a transaction's signatures have enough weight. */
import { Keypair, StrKey, type xdr } from '@stellar/stellar-sdk';
import { isEd25519 } from '../../../src/chains/ed25519.ts';

export interface SignatureChecker {
  /** True if the account's signers signed with the weight of a threshold, at least 1. */
  suffice(account: xdr.AccountEntry, threshold: 'low' | 'medium' | 'high'): boolean;
  /** True if the key of a missing account signed. */
  signedBy(account: string): boolean;
  /** True if a check used every signature. */
  allUsed(): boolean;
}

const thresholdAt = { low: 1, medium: 2, high: 3 } as const;

export function checkSignatures(hash: Buffer, signatures: readonly xdr.DecoratedSignature[]): SignatureChecker {
  const used = new Set<number>();

  const signedBy = (publicKey: Buffer): boolean => {
    const signer = Keypair.fromPublicKey(StrKey.encodeEd25519PublicKey(publicKey));
    const at = signatures.findIndex(
      (signature) =>
        signature.hint().equals(signer.signatureHint()) && isEd25519(publicKey, hash, signature.signature()),
    );
    if (at >= 0) used.add(at);
    return at >= 0;
  };

  return {
    suffice(account, threshold) {
      const [master = 0] = account.thresholds();
      let weight = signedBy(account.accountId().ed25519()) ? master : 0;
      for (const signer of account.signers()) {
        const key = signer.key();
        if (key.switch().name === 'signerKeyTypeEd25519' && signedBy(key.ed25519())) weight += signer.weight();
      }
      return weight >= Math.max(1, account.thresholds()[thresholdAt[threshold]] ?? 0);
    },
    signedBy: (account) => signedBy(StrKey.decodeEd25519PublicKey(account)),
    allUsed: () => used.size === signatures.length,
  };
}
