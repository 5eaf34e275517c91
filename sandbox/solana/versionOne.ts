/** Transactions of version 1 (SIMD-0385), which web3.js 1.x neither builds nor reads. */
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import type { Keypair, TransactionInstruction } from 'solana-web3-v1';
import type { Budget } from './chain/message.ts';

/** Enough for a transfer that creates the receiver's token account. An omitted limit would be zero. */
const usual: Budget = { computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 4 * 1024 * 1024 };

/** @returns the wire format of nodes */
export async function signedAsVersionOne(
  signer: Keypair,
  instructions: readonly TransactionInstruction[],
  recentBlockhash: string,
  budget: Budget = usual,
): Promise<Uint8Array> {
  const feePayer = await createKeyPairSignerFromBytes(signer.secretKey);
  const lifetime = { blockhash: blockhash(recentBlockhash), lastValidBlockHeight: 0n };
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageConfig(budget, empty),
    (bounded) => setTransactionMessageFeePayerSigner(feePayer, bounded),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (living) => appendTransactionMessageInstructions(instructions.map(toKit), living),
  );
  return new Uint8Array(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message)));
}

const toKit = ({ programId, keys, data }: TransactionInstruction): Instruction => ({
  programAddress: address(programId.toBase58()),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
    address: address(pubkey.toBase58()),
    role: roleOf(isSigner, isWritable),
  })),
  data: new Uint8Array(data),
});

function roleOf(signs: boolean, written: boolean): AccountRole {
  if (signs) return written ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER;
  return written ? AccountRole.WRITABLE : AccountRole.READONLY;
}
