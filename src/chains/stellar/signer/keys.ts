import { Keypair, StrKey } from '@stellar/stellar-sdk';

export const isSecret = (text: string): boolean => StrKey.isValidEd25519SecretSeed(text);

/** The account (G…) of a secret (S…). */
export const accountOfSecret = (secret: string): string => Keypair.fromSecret(secret).publicKey();
