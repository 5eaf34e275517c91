/** A local Solana for tests, with the unmodified clients on top: wallets with money, transfers as wallets make them. */
import { type Address, address, createNoopSigner, createSolanaRpc } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getCloseAccountInstruction } from '@solana-program/token';
import {
  type Commitment,
  Connection,
  Keypair,
  PublicKey,
  type SendOptions,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { fundWallet } from '../../sandbox/solana/controls.ts';
import { createSolana, type Solana, type SolanaOptions } from '../../sandbox/solana/solana.ts';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { signedAsVersionOne } from '../../sandbox/solana/versionOne.ts';
import { toWeb3, transferInstructions, tokenAccount as walletsAccount } from '../../sandbox/solana/wallet.ts';
import { onStop } from './hooks.ts';

export interface Transfer {
  readonly from: Keypair;
  readonly to: PublicKey;
  readonly amount: bigint;
  readonly memo?: string;
  readonly reference?: PublicKey;
  /** Version of the transaction. Default: 0. */
  readonly version?: 0 | 1;
}

/** The unmodified clients of a local Solana, wherever it runs. */
export interface SolanaClient {
  readonly connection: Connection;
  readonly rpc: ReturnType<typeof connectKit>;
  /** A new wallet with 10 SOL and, by default, 500 USDC. */
  person(amount?: bigint): Promise<Keypair>;
  /** Instructions of a payment: create the receiver's token account if need be, transfer, memo. */
  payment(transfer: Transfer): Promise<TransactionInstruction[]>;
  /** An instruction that closes a wallet's empty token account: its lamports go to the wallet. */
  close(owner: PublicKey, account: PublicKey): TransactionInstruction;
  /** Signs for the newest block. */
  signed(signer: Keypair, instructions: TransactionInstruction[]): Promise<VersionedTransaction>;
  send(transaction: VersionedTransaction, options?: SendOptions): Promise<string>;
  /** A payment of USDC. @returns its signature */
  pay(transfer: Transfer): Promise<string>;
  /** USDC balance of a wallet in its token account, in smallest units. @throws if it has none */
  balance(owner: PublicKey, commitment?: Commitment): Promise<bigint>;
  /** A request as it goes over the wire. @param body JSON, or text as it is */
  post(body: unknown): Promise<{ readonly status: number; readonly body: Reply }>;
  /** A call without a client in between. */
  call(method: string, ...params: unknown[]): Promise<Reply>;
}

export interface SolanaLab extends SolanaClient {
  readonly solana: Solana;
  stop(): Promise<void>;
}

export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The one that wallets use; the client's own default is newer than the virtual machine. */
const memoProgram = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export const lamportsPerSol = 1_000_000_000n;
export const usdcMint = new PublicKey(usdc.mint);
export const of = (key: PublicKey): Address => address(key.toBase58());

/** Address of a wallet's USDC. */
export const tokenAccount = (owner: PublicKey, mint: Address = usdc.mint): Promise<PublicKey> =>
  walletsAccount(owner, mint);

export { toWeb3 };

/** A separate network for a test; without a pace, only the spec advances it. */
export async function solanaLab(options: Partial<SolanaOptions> = {}): Promise<SolanaLab> {
  const solana = await createSolana({ slot_ms: 'manual', ...options });
  onStop(() => lab.stop());
  let stopped: Promise<void> | undefined;
  const lab = { solana, ...solanaClient(solana.rpcUrl), stop: () => (stopped ??= solana.stop()) };
  return lab;
}

const connectKit = (rpcUrl: string) => createSolanaRpc(rpcUrl);

export function solanaClient(rpcUrl: string): SolanaClient {
  const connection = new Connection(rpcUrl, 'processed');
  const self: SolanaClient = {
    connection,
    rpc: connectKit(rpcUrl),
    async person(amount = 500_000000n) {
      const keypair = Keypair.generate();
      await fundWallet(rpcUrl, keypair.publicKey.toBase58(), { lamports: 10n * lamportsPerSol, usdc: amount });
      return keypair;
    },
    async payment({ from, to, amount, memo, reference }) {
      const references = reference ? [reference] : [];
      return [
        ...(await transferInstructions({ from: from.publicKey, to, ...usdc, amount, references })),
        ...(memo === undefined ? [] : [toWeb3(getAddMemoInstruction({ memo }, { programAddress: memoProgram }))]),
      ];
    },
    close(owner, account) {
      const ends = { account: of(account), destination: of(owner), owner: createNoopSigner(of(owner)) };
      return toWeb3(getCloseAccountInstruction(ends));
    },
    async signed(signer, instructions) {
      const { blockhash: recentBlockhash } = await connection.getLatestBlockhash('processed');
      const message = new TransactionMessage({ payerKey: signer.publicKey, recentBlockhash, instructions });
      const transaction = new VersionedTransaction(message.compileToV0Message());
      transaction.sign([signer]);
      return transaction;
    },
    send: (transaction, options) => connection.sendRawTransaction(transaction.serialize(), options),
    async pay(transfer) {
      const instructions = await self.payment(transfer);
      if (transfer.version !== 1) return self.send(await self.signed(transfer.from, instructions));
      const { blockhash } = await connection.getLatestBlockhash('processed');
      return connection.sendRawTransaction(await signedAsVersionOne(transfer.from, instructions, blockhash));
    },
    async balance(owner, commitment) {
      const { value } = await connection.getTokenAccountBalance(await tokenAccount(owner), commitment);
      return BigInt(value.amount);
    },
    async post(body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(rpcUrl, { method: 'POST', headers, body: text });
      return { status: response.status, body: (await response.json()) as Reply };
    },
    async call(method, ...params) {
      const { id, jsonrpc, ...reply } = (await self.post({ jsonrpc: '2.0', id: 7, method, params })).body as Reply & {
        id: unknown;
        jsonrpc: string;
      };
      if (id !== 7 || jsonrpc !== '2.0') throw new Error(`an answer to something else: ${id}`);
      return reply;
    },
  };
  return self;
}
