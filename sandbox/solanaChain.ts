/** The sandbox's local Solana: found running or started, with the public network's state and additional play money. */
import { join } from 'node:path';
import { Connection, PublicKey } from 'solana-web3-v1';
import { type Children, onSamePort } from './children.ts';
import type { SandboxKeys } from './keys.ts';
import { type OwnNodes, prepareOwnNode } from './ownNodes.ts';
import { anyIsLeft, type IsEnough, mostIsLeft } from './playMoney.ts';
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
  readonly ownNodes?: OwnNodes;
}

/** In smallest units: a million USDC, a thousand SOL. */
const full = { usdc: 1_000_000n * 10n ** 6n, lamports: 1_000n * 10n ** 9n };
/** The pace of the public network, beside other chains with blocks of one second. */
const slotsPerBlockTime = 2.5;
/** A blockhash is valid for 150 slots, which must last longer than the restart of a killed service. */
const slotMin_ms = 200;
/** Slots until the planted money is final. */
const settling_slots = 8;

export async function keepSolanaChain(options: SolanaChainOptions): Promise<SolanaChain> {
  const own = options.ownNodes?.get(501);
  const { rpcUrl } = own === undefined ? await keepNode(options) : { rpcUrl: own };
  const { treasury, customer, merchantWallet } = options.keys.solana;
  const addressOf = (secretKey: string) => keypairOf(secretKey).publicKey.toBase58();
  const relay = addressOf(options.keys.solana.relay);
  const chain = {
    rpcUrl,
    treasury: addressOf(treasury),
    customer: addressOf(customer),
    merchantWallet: addressOf(merchantWallet),
  };
  if (own !== undefined && !(await solanaAnswers(own)))
    throw new Error('RPC_URLS_501: no node of Solana answers there');
  const isReal = own !== undefined || options.realNodes?.SOLANA !== undefined;
  const topUpAll = async () => {
    const topUp = async (wallet: string) => {
      const short = await missing(rpcUrl, wallet, own === undefined ? mostIsLeft : anyIsLeft);
      if (Object.keys(short).length === 0) return;
      await (isReal ? endowOnAgave(rpcUrl, wallet, short) : plant(rpcUrl, wallet, short));
    };
    // The relay account pays fees and holds no token.
    const topUpRelay = async () => {
      const { lamports } = await missing(rpcUrl, relay, own === undefined ? mostIsLeft : anyIsLeft);
      if (lamports !== undefined) await (isReal ? endowOnAgave : plant)(rpcUrl, relay, { lamports });
    };
    await Promise.all([...[chain.treasury, chain.customer].map(topUp), topUpRelay()]);
  };
  await (own === undefined ? topUpAll() : prepareOwnNode(501, chain, topUpAll));
  return chain;
}

async function keepNode({ dataDir, children, blockTime_s, realNodes }: SolanaChainOptions) {
  const name = 'chain-501';
  const program = realNodes?.SOLANA;
  return children.keep(
    name,
    async () => {
      const logFile = join(dataDir, 'logs', `${name}.log`);
      const slot_ms = Math.max(slotMin_ms, (blockTime_s * 1_000) / slotsPerBlockTime);
      const launch = (port: number): Promise<{ pid: number; rpcUrl: string }> =>
        program === undefined
          ? startSolana({
              slot_ms,
              stateFile: join(dataDir, 'chains', '501.jsonl'),
              logFile,
              detached: true,
              port,
            })
          : startAgave({ program, folder: join(dataDir, 'chains', '501'), slot_ms, logFile, detached: true, port });
      const ports = program === undefined ? 1 : portsOfNode.SOLANA;
      const { pid, rpcUrl } = await onSamePort(children.last(name)?.['rpcUrl'], launch, ports);
      return { pid, facts: { rpcUrl } };
    },
    ({ rpcUrl }) => solanaAnswers(rpcUrl),
  );
}

type Money = { readonly lamports?: bigint; readonly usdc?: bigint };

/** Play money that a wallet lacks: the amount of the first start, if it has not enough. */
async function missing(rpcUrl: string, wallet: string, isEnough: IsEnough): Promise<Money> {
  const connection = new Connection(rpcUrl, 'processed');
  const owner = new PublicKey(wallet);
  const lamports = BigInt(await connection.getBalance(owner));
  const { value: accounts } = await connection.getParsedTokenAccountsByOwner(owner, { mint: new PublicKey(usdc.mint) });
  const held = accounts.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount));
  return {
    ...(!isEnough(lamports, full.lamports) && { lamports: full.lamports }),
    ...(!isEnough(
      held.reduce((sum, each) => sum + each, 0n),
      full.usdc,
    ) && { usdc: full.usdc }),
  };
}

async function plant(rpcUrl: string, wallet: string, money: Money): Promise<void> {
  await endowWallet(rpcUrl, wallet, money);
  await advanceSlots(rpcUrl, settling_slots);
}
