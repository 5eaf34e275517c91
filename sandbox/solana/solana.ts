/** A Solana network of one node in this process: the RPC that wallets and services know, over a real virtual machine. */
import { randomBytes } from 'node:crypto';
import { createFaults, type Faults, type SolanaFault } from '../faults.ts';
import { wallet } from './chain/account.ts';
import { type Chain, openChain } from './chain/chain.ts';
import { sandboxFinality } from './chain/commitments.ts';
import { faucetAddress, faucetLamports } from './faucet.ts';
import { plantMint } from './plant.ts';
import { serve } from './server.ts';
import { usdc } from './usdc.ts';

/** Milliseconds between slots. `manual`: only `advanceSlots` advances. */
export type SlotPace = number | 'manual';

export interface SolanaOptions {
  readonly slot_ms: SlotPace;
  /** Default: a free one; WebSockets are one port higher. */
  readonly port?: number | undefined;
  /** State file between starts. Default: in memory only. */
  readonly stateFile?: string | undefined;
  /** Number of slots until a block is confirmed. Default: 1. */
  readonly confirmed_slots?: number | undefined;
  /** Number of slots until a block is final. Default: 4; 32 on the public network. */
  readonly finalized_slots?: number | undefined;
  /** Maximum transactions that the node remembers. */
  readonly transactionsMax?: number;
  /** Unix seconds. */
  readonly now_s?: () => number;
}

export interface Solana {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly chain: Chain;
  readonly faults: Faults<SolanaFault>;
  /** Advances to later slots, each at least this many seconds after the previous one. */
  advanceSlots(slots?: number, seconds?: number): void;
  stop(): Promise<void>;
}

const transactionsMax = 20_000;

/** @throws Error if the state file is foreign, or the ports are in use */
export async function createSolana(options: SolanaOptions): Promise<Solana> {
  const { slot_ms, stateFile, now_s = () => Math.floor(Date.now() / 1_000) } = options;
  const chain = openChain({
    finality: {
      confirmed_slots: options.confirmed_slots ?? sandboxFinality.confirmed_slots,
      finalized_slots: options.finalized_slots ?? sandboxFinality.finalized_slots,
    },
    transactionsMax: options.transactionsMax ?? transactionsMax,
    stateFile,
    now_s,
    newGenesis: () => randomBytes(32).toString('hex'),
  });
  genesis(chain);
  const faults = createFaults<SolanaFault>();
  const server = await serve({ chain, faults }, options.port ?? 0);
  const timer = slot_ms === 'manual' ? undefined : setInterval(() => chain.advance(1), slot_ms);
  timer?.unref();
  return {
    rpcUrl: server.rpcUrl,
    wsUrl: server.wsUrl,
    chain,
    faults,
    advanceSlots: (slots = 1, seconds = 0) => chain.advance(slots, seconds),
    async stop() {
      clearInterval(timer);
      await server.stop();
      chain.stop();
    },
  };
}

/** Start of every chain: an account with lamports, and USDC as on the public network. All of it final. */
function genesis(chain: Chain): void {
  const faucet = faucetAddress(chain.genesis);
  if (chain.accounts.get(faucet)) return;
  chain.plant(() => [[faucet, wallet(faucetLamports)]]);
  plantMint(chain, usdc.mint, usdc.decimals);
  chain.advance(chain.finality.finalized_slots);
}
