/** The sandbox's local Solana: found again or started, with money to spend on top of what the public network has. */
import { join } from 'node:path';
import { Connection, PublicKey } from 'solana-web3-v1';
import { type Children, onSamePort } from './children.ts';
import type { SandboxKeys } from './keys.ts';
import { endowOnAgave, startAgave } from './realNodes/agave.ts';
import { portsOfNode, type RealNodePrograms } from './realNodes/programs.ts';
import { advanceSlots } from './solana/controls.ts';
import { endowWallet } from './solana/endow.ts';
import { solanaAnswers, startSolana } from './solana/start.ts';
import { usdc } from './solana/usdc.ts';
import { keypairOf } from './solana/wallet.ts';

export interface SolanaChain {
  readonly rpcUrl: string;
  /** Wallets with SOL and USDC. */
  readonly treasury: string;
  readonly customer: string;
  /** A wallet that has nothing yet, not even an account for USDC. */
  readonly merchantWallet: string;
}

export interface SolanaChainOptions {
  readonly dataDir: string;
  readonly children: Children;
  readonly keys: SandboxKeys;
  readonly blockTime_s: number;
  readonly realNodes?: RealNodePrograms;
}

/** In smallest units: a million USDC, a thousand SOL. */
const full = { usdc: 1_000_000n * 10n ** 6n, lamports: 1_000n * 10n ** 9n };
/** As on the public network, where the other chains' blocks take a second. */
const slotsPerBlockTime = 2.5;
/** A blockhash is valid for 150 slots. They must last longer than the restart of a killed service. */
const slotMin_ms = 200;
/** So many slots later the planted money is final. */
const settling_slots = 8;

export async function keepSolanaChain(options: SolanaChainOptions): Promise<SolanaChain> {
  const { rpcUrl } = await keepNode(options);
  const { treasury, customer, merchantWallet } = options.keys.solana;
  const addressOf = (secretKey: string) => keypairOf(secretKey).publicKey.toBase58();
  const chain = {
    rpcUrl,
    treasury: addressOf(treasury),
    customer: addressOf(customer),
    merchantWallet: addressOf(merchantWallet),
  };
  for (const wallet of [chain.treasury, chain.customer]) await topUp(options, rpcUrl, wallet);
  return chain;
}

async function keepNode({ dataDir, children, blockTime_s, realNodes }: SolanaChainOptions) {
  const name = 'chain-501';
  const program = realNodes?.SOLANA;
  return children.keep(
    name,
    async () => {
      const logFile = join(dataDir, 'logs', `${name}.log`);
      const launch = (port: number): Promise<{ pid: number; rpcUrl: string }> =>
        program === undefined
          ? startSolana({
              slot_ms: Math.max(slotMin_ms, (blockTime_s * 1_000) / slotsPerBlockTime),
              stateFile: join(dataDir, 'chains', '501.jsonl'),
              logFile,
              detached: true,
              port,
            })
          : startAgave({ program, folder: join(dataDir, 'chains', '501'), logFile, detached: true, port });
      const ports = program === undefined ? 1 : portsOfNode.SOLANA;
      const { pid, rpcUrl } = await onSamePort(children.last(name)?.['rpcUrl'], launch, ports);
      return { pid, facts: { rpcUrl } };
    },
    ({ rpcUrl }) => solanaAnswers(rpcUrl),
  );
}

/** Money for play, brought back up when most of it is spent. */
async function topUp({ realNodes }: SolanaChainOptions, rpcUrl: string, wallet: string): Promise<void> {
  const connection = new Connection(rpcUrl, 'processed');
  const owner = new PublicKey(wallet);
  const lamports = BigInt(await connection.getBalance(owner));
  const { value: accounts } = await connection.getParsedTokenAccountsByOwner(owner, { mint: new PublicKey(usdc.mint) });
  const held = accounts.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount));
  const short = {
    ...(lamports < full.lamports / 2n && { lamports: full.lamports }),
    ...(held.reduce((sum, each) => sum + each, 0n) < full.usdc / 2n && { usdc: full.usdc }),
  };
  if (Object.keys(short).length === 0) return;
  if (realNodes?.SOLANA) return endowOnAgave(rpcUrl, wallet, short);
  await endowWallet(rpcUrl, wallet, short);
  await advanceSlots(rpcUrl, settling_slots);
}
