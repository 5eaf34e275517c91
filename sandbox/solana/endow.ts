/** Planted money with a transaction, as on the network: a wallet's history explains its balance. */
import { Connection, Keypair, PublicKey, TransactionMessage, VersionedTransaction } from 'solana-web3-v1';
import { fundWallet, type Money } from './controls.ts';
import { usdc } from './usdc.ts';
import { transferInstructions } from './wallet.ts';

const feeLamports = 10_000_000n;

/** Adds money to a wallet. An account that received the same sum sends its USDC; it is available at `processed` at once. */
export async function endowWallet(
  rpcUrl: string,
  address: string,
  { lamports, usdc: amount = 0n }: Omit<Money, 'tokens'>,
): Promise<void> {
  await fundWallet(rpcUrl, address, { lamports: lamports ?? 0n });
  if (amount > 0n) await endowToken(rpcUrl, address, { ...usdc, amount });
}

/** Adds any token whose mint exists. */
export async function endowToken(
  rpcUrl: string,
  address: string,
  token: { readonly mint: string; readonly decimals: number; readonly amount: bigint },
): Promise<void> {
  const giver = Keypair.generate();
  const given = { lamports: feeLamports, tokens: { [token.mint]: token.amount } };
  await fundWallet(rpcUrl, giver.publicKey.toBase58(), given);
  const connection = new Connection(rpcUrl, 'processed');
  const to = new PublicKey(address);
  const instructions = await transferInstructions({ from: giver.publicKey, to, ...token });
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({ payerKey: giver.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([giver]);
  await connection.sendRawTransaction(transaction.serialize());
}
