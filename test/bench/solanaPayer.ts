/** A payer with USDC on a local Solana. */
import { Connection, Keypair, PublicKey } from 'solana-web3-v1';
import { fundWallet } from '../../sandbox/solana/controls.ts';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { signedAsVersionOne } from '../../sandbox/solana/versionOne.ts';
import { transferInstructions } from '../../sandbox/solana/wallet.ts';

export interface SolanaPayer {
  readonly address: string;
  /** Sends a dollar. @returns the transaction's signature, when the node has accepted it */
  pay(to: string): Promise<string>;
}

export async function openSolanaPayer(rpcUrl: string): Promise<SolanaPayer> {
  const payer = Keypair.generate();
  const address = payer.publicKey.toBase58();
  await fundWallet(rpcUrl, address, { lamports: 10n ** 12n, usdc: 10n ** 12n });
  const connection = new Connection(rpcUrl, 'processed');
  return {
    address,
    async pay(to) {
      const ends = { from: payer.publicKey, to: new PublicKey(to) };
      const instructions = await transferInstructions({ ...ends, ...usdc, amount: 1_000_000n });
      const { blockhash } = await connection.getLatestBlockhash();
      return connection.sendRawTransaction(await signedAsVersionOne(payer, instructions, blockhash));
    },
  };
}
