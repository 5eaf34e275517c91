/** A Solana network of one node in this process: the RPC that wallets and services know, over a real virtual machine. */
import { randomBytes } from 'node:crypto';
import { wallet } from './chain/account.ts';
import { type Chain, openChain } from './chain/chain.ts';
import { sandboxFinality } from './chain/commitments.ts';
import { faucetAddress, faucetLamports } from './faucet.ts';
import { createFaults, type Faults } from './faults.ts';
import { plantMint } from './plant.ts';
import { serve } from './server.ts';
import { usdc } from './usdc.ts';

/** Milliseconds between slots. `manual`: only `advanceSlots` goes on. */
export type SlotPace = number | 'manual';

export interface SolanaOptions {
  readonly slot_ms: SlotPace;
  /** A free one when left out; WebSockets are one port higher. */
  readonly port?: number | undefined;
  /** Where the chain lives between starts; in memory only when left out. */
  readonly stateFile?: string | undefined;
  /** How many slots later a block is confirmed; 1 when left out. */
  readonly confirmed_slots?: number | undefined;
  /** How many slots later a block is final; 4 when left out, 32 on the public network. */
  readonly finalized_slots?: number | undefined;
  /** How many transactions the node remembers. */
  readonly transactionsMax?: number;
  /** Unix seconds. */
  readonly now_s?: () => number;
}

export interface Solana {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly chain: Chain;
  readonly faults: Faults;
  /** Goes on to later slots, each at least so many seconds after the one before. */
  advanceSlots(slots?: number, seconds?: number): void;
  stop(): Promise<void>;
}

const transactionsMax = 20_000;

/** @throws Error when the state file is something else, or the ports are taken */
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
  const faults = createFaults();
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

/** What every chain begins with: an account to take lamports from, and USDC as on the public network. All of it final. */
function genesis(chain: Chain): void {
  const faucet = faucetAddress(chain.genesis);
  if (chain.accounts.get(faucet)) return;
  chain.plant(() => [[faucet, wallet(faucetLamports)]]);
  plantMint(chain, usdc.mint, usdc.decimals);
  chain.advance(chain.finality.finalized_slots);
}
