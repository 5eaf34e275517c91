/** A real Solana: Agave's solana-test-validator, with USDC at its production address. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { address } from '@solana/kit';
import { getMintToInstruction } from '@solana-program/token';
import { Connection, Keypair, PublicKey, Transaction } from 'solana-web3-v1';
import { solanaAnswers } from '../solana/start.ts';
import { usdc } from '../solana/usdc.ts';
import { tokenAccount, toWeb3, transferInstructions } from '../solana/wallet.ts';
import { limitPollingThreads } from './agaveScheduler.ts';
import { readPid, type StartedNode, startNode } from './node.ts';
import { freeNodePort } from './programs.ts';

export interface AgaveOptions {
  /** The start program: `SOLANA`. */
  readonly program: string;
  /** Ledger directory between starts. */
  readonly folder: string;
  readonly logFile: string;
  /** Default: a free port. The 44 ports above it are used, too; the next one is PubSub's. */
  readonly port?: number;
  readonly detached?: boolean;
  /** Milliseconds between blocks. A ledger keeps those of its first start. Default: 400, as on the public network. */
  readonly slot_ms?: number;
}

export interface Agave extends StartedNode {
  readonly rpcUrl: string;
}

const usualSlot_ms = 400;
const tick_ms = 6.25;

/** Starts the validator and waits until it answers. In the same folder it continues the existing ledger. */
export async function startAgave(options: AgaveOptions): Promise<Agave> {
  const { program, folder, logFile, detached = false, slot_ms = usualSlot_ms } = options;
  const port = options.port ?? (await freeNodePort('SOLANA'));
  mkdirSync(folder, { recursive: true });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const args = [`${port}`, folder, '--ticks-per-slot', String(Math.round(slot_ms / tick_ms))];
  const node = await startNode({ program, args, logFile, isReady: () => solanaAnswers(rpcUrl), detached });
  await limitPollingThreads(await readPid(join(folder, 'pid')));
  return { ...node, rpcUrl };
}

/** In smallest units: 10^-9 of a SOL, 10^-6 of a USDC. */
export interface AgaveFunds {
  readonly lamports?: bigint;
  readonly usdc?: bigint;
}

/** The key of the seed of 32 bytes 0x07 may mint USDC: the start program plants it as the mint authority. */
const mintAuthority = Keypair.fromSeed(new Uint8Array(32).fill(7));
const feeLamports = 1_000_000_000n;
const poll_ms = 200;
const polls = 300;

/** Sends money to a wallet by transactions, so that its history accounts for it. Returns when they are final. */
export async function endowOnAgave(rpcUrl: string, wallet: string, funds: AgaveFunds): Promise<void> {
  const { lamports = 0n, usdc: amount = 0n } = funds;
  const connection = new Connection(rpcUrl, 'confirmed');
  const signatures = await Promise.all([
    ...(lamports > 0n ? [airdrop(connection, new PublicKey(wallet), lamports)] : []),
    ...(amount > 0n ? [mintUsdc(connection, new PublicKey(wallet), amount)] : []),
  ]);
  // If the treasury's books opened before the money is final, the audit would find it as an inflow that nothing records.
  for (const signature of signatures) await untilReached(connection, signature, 'finalized');
}

async function airdrop(connection: Connection, to: PublicKey, lamports: bigint): Promise<string> {
  const signature = await connection.requestAirdrop(to, Number(lamports));
  await untilReached(connection, signature, 'confirmed');
  return signature;
}

async function mintUsdc(connection: Connection, to: PublicKey, amount: bigint): Promise<string> {
  const giver = Keypair.generate();
  await airdrop(connection, giver.publicKey, feeLamports);
  const mint = address(usdc.mint);
  const ownAccount = await tokenAccount(giver.publicKey, mint);
  const [createOwn] = await transferInstructions({ from: giver.publicKey, to: giver.publicKey, ...usdc, amount: 0n });
  const token = address(ownAccount.toBase58());
  const authority = address(mintAuthority.publicKey.toBase58());
  const mintTo = toWeb3(getMintToInstruction({ mint, token, mintAuthority: authority, amount }));
  for (const key of mintTo.keys) if (key.pubkey.equals(mintAuthority.publicKey)) key.isSigner = true;
  const transfer = await transferInstructions({ from: giver.publicKey, to, ...usdc, amount });
  const transaction = new Transaction().add(...(createOwn ? [createOwn] : []), mintTo, ...transfer);
  transaction.feePayer = giver.publicKey;
  transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash;
  transaction.sign(giver, mintAuthority);
  const signature = await connection.sendRawTransaction(transaction.serialize());
  await untilReached(connection, signature, 'confirmed');
  return signature;
}

async function untilReached(
  connection: Connection,
  signature: string,
  level: 'confirmed' | 'finalized',
): Promise<void> {
  for (let poll = 0; poll < polls; poll += 1) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
    if (value?.confirmationStatus === 'finalized' || value?.confirmationStatus === level) return;
    await sleep(poll_ms);
  }
  throw new Error(`transaction ${signature} was not ${level} within ${(polls * poll_ms) / 1_000} s`);
}
