/** The same wallets, token and transactions on two Solana nodes. It uses only the network's own transactions. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, address, createNoopSigner, getBase58Decoder } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import * as token from '@solana-program/token';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { signedAsVersionOne } from '../../sandbox/solana/versionOne.ts';
import { tokenAccount, toWeb3, transferInstructions } from '../../sandbox/solana/wallet.ts';
import { patience_ms } from '../support/patience.ts';
import { jsonHeaders } from './comparison.ts';

export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Makes a call on one node. */
export async function call(url: string, method: string, params: readonly unknown[] = []): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: jsonHeaders, body });
  return (await response.json()) as Reply;
}

const poll_ms = 50;
const polls = patience_ms / poll_ms;

/** Waits until a transaction is confirmed, or final. @throws Error after 15 s */
export async function confirmed(url: string, signature: string, level?: 'finalized'): Promise<void> {
  for (let poll = 0; poll < polls; poll += 1) {
    const { result } = await call(url, 'getSignatureStatuses', [[signature]]);
    const [status] = (result as { value: ({ confirmationStatus: string } | null)[] }).value;
    if (status?.confirmationStatus === 'finalized' || (!level && status?.confirmationStatus === 'confirmed')) return;
    await sleep(poll_ms);
  }
  throw new Error(`${url} did not ${level ? 'finalize' : 'confirm'} ${signature}`);
}

/** Waits until an account is final. @throws Error after 15 s */
async function finalized(url: string, account: Address): Promise<void> {
  for (let poll = 0; poll < polls; poll += 1) {
    const { result } = await call(url, 'getBalance', [account]);
    if ((result as { value: number }).value > 0) return;
    await sleep(poll_ms);
  }
  throw new Error(`${url} did not finalize ${account}`);
}

/** Waits until a transaction is the newest of an account. @throws Error after 15 s */
export async function listedFirst(url: string, account: Address, signature: string): Promise<void> {
  for (let poll = 0; poll < polls; poll += 1) {
    const { result } = await call(url, 'getSignaturesForAddress', [account, { commitment: 'confirmed', limit: 1 }]);
    if ((result as { signature: string }[])[0]?.signature === signature) return;
    await sleep(poll_ms);
  }
  throw new Error(`${url} did not list ${signature} first`);
}

/** Waits until a node has prices of recent blocks. @throws Error at the end of the spec's patience */
export async function pricesListed(url: string): Promise<void> {
  for (let poll = 0; poll < polls; poll += 1) {
    const { result } = await call(url, 'getRecentPrioritizationFees');
    if ((result as readonly unknown[]).length > 0) return;
    await sleep(poll_ms);
  }
  throw new Error(`${url} has no prices of recent blocks`);
}

export const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Options of a `sendTransaction`. */
export const usualSend = { encoding: 'base64', preflightCommitment: 'confirmed' } as const;

/** Sends a transaction without a preflight and waits until it is confirmed. */
export async function land(url: string, bytes: Uint8Array): Promise<string> {
  const { result, error } = await call(url, 'sendTransaction', [encoded(bytes), { ...usualSend, skipPreflight: true }]);
  if (typeof result !== 'string') throw new Error(error?.message ?? 'no signature');
  await confirmed(url, result);
  return result;
}

export async function newestBlockhash(url: string): Promise<string> {
  const { result } = await call(url, 'getLatestBlockhash', [{ commitment: 'confirmed' }]);
  return (result as { value: { blockhash: string } }).value.blockhash;
}

export async function versionZero(
  url: string,
  instructions: TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
  blockhash?: string,
): Promise<Uint8Array> {
  const recentBlockhash = blockhash ?? (await newestBlockhash(url));
  const message = new TransactionMessage({ payerKey: signers[0].publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([...signers]);
  return transaction.serialize();
}

async function legacy(url: string, instructions: TransactionInstruction[], signer: Keypair): Promise<Uint8Array> {
  const transaction = new Transaction().add(...instructions);
  transaction.feePayer = signer.publicKey;
  transaction.recentBlockhash = await newestBlockhash(url);
  transaction.sign(signer);
  return transaction.serialize();
}

const lamportsPerSol = 1_000_000_000;
const decimals = 6;
const memoProgram = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const keyOf = ({ publicKey }: Keypair): Address => address(publicKey.toBase58());

/** A case of a transaction. Its bytes differ between nodes by the blockhash alone. */
export interface TransactionCase {
  readonly name: string;
  readonly make: (url: string) => Promise<Uint8Array>;
  /** True if it calls a program whose code differs between the two machines. */
  readonly isOtherProgram?: boolean;
}

export type SolanaWorld = Awaited<ReturnType<typeof createSolanaWorld>>;

/** Funds the payer, creates the token, and mints 1,000 of it. @param urls of all nodes */
export async function createSolanaWorld(urls: readonly string[]) {
  const [payer, receiver, stranger, frozen, poor, mint, reference] = Array.from({ length: 7 }, () =>
    Keypair.generate(),
  ) as [Keypair, Keypair, Keypair, Keypair, Keypair, Keypair, Keypair];
  const payerSigner = createNoopSigner(keyOf(payer));
  const accountOf = (owner: Keypair) => tokenAccount(owner.publicKey, keyOf(mint));
  const [own, receivers, frozens] = (await Promise.all([payer, receiver, frozen].map(accountOf))) as [
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  const addressOf = (key: PublicKey) => address(key.toBase58());

  const signedByPayer = (instruction: TransactionInstruction): TransactionInstruction => {
    for (const key of instruction.keys) if (key.pubkey.equals(payer.publicKey)) key.isSigner = true;
    return instruction;
  };
  const pay = (lamports: number, to = stranger, from = payer) =>
    SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports });
  const payTokens = (to: Keypair, amount: bigint, references: readonly PublicKey[] = []) =>
    transferInstructions({ from: payer.publicKey, to: to.publicKey, mint: keyOf(mint), decimals, amount, references });
  const freeze = () =>
    signedByPayer(
      toWeb3(token.getFreezeAccountInstruction({ account: addressOf(frozens), mint: keyOf(mint), owner: payerSigner })),
    );

  async function build(url: string): Promise<void> {
    const funded = await Promise.all(
      [
        [payer, 10 * lamportsPerSol],
        [poor, 1_000_000],
      ].map(([who, lamports]) => call(url, 'requestAirdrop', [keyOf(who as Keypair), lamports])),
    );
    for (const { result } of funded) await confirmed(url, String(result));
    const space = token.getMintSize();
    const { result: rent } = await call(url, 'getMinimumBalanceForRentExemption', [space]);
    const create = SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      lamports: Number(rent),
      space,
      programId: new PublicKey(token.TOKEN_PROGRAM_ADDRESS),
    });
    const authority = { mintAuthority: keyOf(payer), freezeAuthority: keyOf(payer) };
    const initialize = toWeb3(token.getInitializeMint2Instruction({ mint: keyOf(mint), decimals, ...authority }));
    const ata = { payer: payerSigner, ata: addressOf(own), owner: keyOf(payer), mint: keyOf(mint) };
    const open = toWeb3(token.getCreateAssociatedTokenIdempotentInstruction(ata));
    const minted = { mint: keyOf(mint), token: addressOf(own), mintAuthority: payerSigner, amount: 1_000_000000n };
    const mintTo = signedByPayer(toWeb3(token.getMintToInstruction(minted)));
    await land(url, await versionZero(url, [create, initialize, open, mintTo], [payer, mint]));
  }
  await Promise.all(urls.map(build));
  await Promise.all(urls.map((url) => finalized(url, keyOf(mint))));

  const zero =
    (make: () => Promise<TransactionInstruction[]> | TransactionInstruction[], signer = payer) =>
    async (url: string) =>
      versionZero(url, await make(), [signer]);
  const budget = { computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 4_194_304, priorityFeeLamports: 777n };

  /** In the order in which they are sent. */
  const landing: readonly TransactionCase[] = [
    { name: 'SOL to a new wallet', make: zero(() => [pay(5_000_000)]) },
    { name: 'SOL in a legacy transaction', make: async (url) => legacy(url, [pay(5_000_001)], payer) },
    {
      name: 'tokens to a new token account, with a memo',
      make: zero(async () => [
        ...(await payTokens(receiver, 1_500000n)),
        toWeb3(getAddMemoInstruction({ memo: 'tea ☕' }, { programAddress: memoProgram })),
      ]),
      isOtherProgram: true,
    },
    {
      name: 'tokens with a reference',
      make: zero(() => payTokens(receiver, 1n, [reference.publicKey])),
    },
    {
      name: 'a priority fee',
      make: zero(() => [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 40_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 250_000 }),
        pay(5_000_002),
      ]),
    },
    {
      name: 'tokens by version 1 with a priority fee',
      make: async (url) =>
        signedAsVersionOne(
          payer,
          await payTokens(receiver, 2n, [reference.publicKey]),
          await newestBlockhash(url),
          budget,
        ),
    },
    { name: 'more tokens than there are', make: zero(() => payTokens(receiver, 10n ** 15n)) },
    { name: 'more SOL than there is', make: zero(() => [pay(10 ** 15)]) },
    {
      name: 'tokens to an account, which is then frozen',
      make: zero(async () => [...(await payTokens(frozen, 5n)), freeze()]),
    },
    { name: 'tokens to a frozen account', make: zero(() => payTokens(frozen, 5n)) },
    {
      name: 'tokens of another mint',
      make: zero(() => {
        const ends = { source: addressOf(own), mint: usdc.mint, destination: addressOf(receivers) };
        const transfer = { ...ends, authority: payerSigner, amount: 1n, decimals };
        return [signedByPayer(toWeb3(token.getTransferCheckedInstruction(transfer)))];
      }),
    },
    {
      name: 'a program that does not exist',
      make: zero(() => [new TransactionInstruction({ programId: stranger.publicKey, keys: [], data: Buffer.of(1) })]),
    },
    { name: 'too little rent for the receiver', make: zero(() => [pay(1, reference)]) },
    { name: 'too little rent left for the payer', make: zero(() => [pay(994_990, stranger, poor)], poor) },
  ];

  const broke = Keypair.generate();
  const forged = (change: (bytes: Uint8Array) => void) => async (url: string) => {
    const bytes = await versionZero(url, [pay(5_000_003)], [payer]);
    change(bytes);
    return bytes;
  };
  const refused: readonly TransactionCase[] = [
    {
      name: 'an unknown blockhash',
      make: async (url) => versionZero(url, [pay(5_000_004)], [payer], keyOf(reference)),
    },
    { name: 'a payer without an account', make: zero(() => [pay(1, payer, broke)], broke) },
    { name: 'a wrong signature', make: forged((bytes) => bytes.set([(bytes[5] ?? 0) ^ 1], 5)) },
    { name: 'no signature', make: forged((bytes) => bytes.fill(0, 1, 65)) },
    { name: 'bytes behind its end that are missing', make: async (url) => (await forged(() => {})(url)).slice(0, -3) },
    { name: 'an account that it does not name', make: forged((bytes) => bytes.set([99], bytes.length - 14)) },
  ];

  return { payer, receiver, stranger, frozen, poor, mint, reference, own, receivers, frozens, landing, refused, pay };
}

export const signatureOf = (bytes: Uint8Array): string =>
  getBase58Decoder().decode(bytes[0] === 0x81 ? bytes.slice(-64) : bytes.slice(1, 65));
