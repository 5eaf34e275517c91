/** The account behind airdrops: real transactions, signed with a key derived from the chain's genesis. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  type Address,
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getTransactionEncoder,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { systemProgram } from './chain/account.ts';
import { parseTransaction, type Submitted } from './chain/transaction.ts';

/** Enough for all trials, and still an exact integer in JSON. In lamports. */
export const faucetLamports = 5_000_000n * 10n ** 9n;

export const faucetAddress = (genesis: string): Address => addressOf(keyOf(genesis));

/** PKCS #8 prefix of the 32 bytes of an ed25519 key. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function keyOf(genesis: string): KeyObject {
  const seed = createHash('sha256').update(`faucet/${genesis}`).digest();
  return createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
}

function addressOf(key: KeyObject): Address {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return getAddressDecoder().decode(Buffer.from(x, 'base64url'));
}

/** @param count distinguishes equal airdrops */
export function airdrop(
  genesis: string,
  to: Address,
  lamports: bigint,
  latest: { readonly blockhash: string; readonly count: number },
): Submitted {
  const key = keyOf(genesis);
  const from = addressOf(key);
  const message = pipe(
    createTransactionMessage({ version: 'legacy' }),
    (empty) => setTransactionMessageFeePayer(from, empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(latest.blockhash), lastValidBlockHeight: 0n },
        paid,
      ),
    (living) => appendTransactionMessageInstruction(transfer(from, from, BigInt(latest.count)), living),
    (numbered) => appendTransactionMessageInstruction(transfer(from, to, lamports), numbered),
  );
  const compiled = compileTransaction(message);
  const signature = sign(null, new Uint8Array(compiled.messageBytes), key) as unknown as SignatureBytes;
  const bytes = getTransactionEncoder().encode({ ...compiled, signatures: { [from]: signature } });
  return parseTransaction(new Uint8Array(bytes));
}

function transfer(from: Address, to: Address, lamports: bigint) {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(lamports, 4);
  return {
    programAddress: systemProgram,
    accounts: [
      { address: from, role: 3 },
      { address: to, role: 1 },
    ],
    data: new Uint8Array(data),
  };
}
