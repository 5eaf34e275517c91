/** Money that comes by a transaction, as on the network: what a wallet holds is explained by its history. */
import { Connection, Keypair, PublicKey, TransactionMessage, VersionedTransaction } from 'solana-web3-v1';
import { fundWallet, type Money } from './controls.ts';
import { usdc } from './usdc.ts';
import { transferInstructions } from './wallet.ts';

const feeLamports = 10_000_000n;

/** Adds money to a wallet. Its USDC comes from somebody who was given as much; it is there at `processed` at once. */
export async function endowWallet(
  rpcUrl: string,
  address: string,
  { lamports, usdc: amount = 0n }: Money,
): Promise<void> {
  await fundWallet(rpcUrl, address, { lamports: lamports ?? 0n });
  if (amount === 0n) return;
  const giver = Keypair.generate();
  await fundWallet(rpcUrl, giver.publicKey.toBase58(), { lamports: feeLamports, usdc: amount });
  const connection = new Connection(rpcUrl, 'processed');
  const to = new PublicKey(address);
  const instructions = await transferInstructions({ from: giver.publicKey, to, ...usdc, amount });
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({ payerKey: giver.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([giver]);
  await connection.sendRawTransaction(transaction.serialize());
}
