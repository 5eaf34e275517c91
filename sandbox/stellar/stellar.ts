/** A Stellar network of one node in this process: the RPC that wallets and services know, over a ledger in memory or a file. */

import { type Chain, openChain } from './chain/chain.ts';
import { createFaults, type Faults } from './faults.ts';
import { genesis } from './friendbot.ts';
import { createNetwork } from './ledger/network.ts';
import { closeLedgers } from './rpc/controls.ts';
import type { Node } from './rpc/method.ts';
import { serve } from './server.ts';
import { createQueue } from './transactions/queue.ts';

/** Milliseconds between ledgers. `instant`: each transaction makes one. `manual`: only `closeLedgers` does. */
export type LedgerPace = number | 'instant' | 'manual';

export interface StellarOptions {
  readonly ledger_ms: LedgerPace;
  /** A free one when left out. */
  readonly port?: number | undefined;
  /** Where the chain lives between starts; in memory only when left out. */
  readonly stateFile?: string | undefined;
  /** The public network's when left out, so that assets have their production contract ids. */
  readonly networkPassphrase?: string | undefined;
  /** 27 when left out. From 30 on the node shows ledger headers that the SDK cannot read. */
  readonly protocol?: number | undefined;
  /** How many ledgers the node remembers. */
  readonly retention_ledgers?: number;
  /** Unix seconds. */
  readonly now_s?: () => number;
}

export interface Stellar {
  readonly rpcUrl: string;
  readonly networkPassphrase: string;
  readonly chain: Chain;
  readonly faults: Faults;
  /** Closes ledgers, each at least so many seconds after the one before; the first takes what waits. */
  closeLedgers(count?: number, seconds?: number): void;
  stop(): Promise<void>;
}

/** A week of five-second ledgers. */
const retention_ledgers = 120_960;

export async function createStellar(options: StellarOptions): Promise<Stellar> {
  const { ledger_ms, stateFile, now_s = () => Math.floor(Date.now() / 1_000) } = options;
  const network = createNetwork(options.networkPassphrase, options.protocol);
  const chain: Chain = openChain({
    network,
    stateFile,
    retention_ledgers: options.retention_ledgers ?? retention_ledgers,
    now_s,
    genesis: (view) => genesis({ network, view, ledger: { sequence: 0, closedAt_s: 0 } }),
  });
  const queue = createQueue();
  const closeLedger = () => chain.close(queue.take(chain.next().sequence));
  const node: Node = {
    chain,
    queue,
    faults: createFaults(),
    submitted: () => {
      if (ledger_ms === 'instant') closeLedger();
    },
    friendbotUrl: () => `${server.url}/friendbot`,
  };
  const server = await serve(() => node, options.port ?? 0);
  const timer = typeof ledger_ms === 'number' ? setInterval(closeLedger, ledger_ms) : undefined;
  timer?.unref();
  return {
    rpcUrl: server.url,
    networkPassphrase: network.passphrase,
    chain,
    faults: node.faults,
    closeLedgers: (count = 1, seconds = 0) => void closeLedgers(node, { count, seconds }),
    async stop() {
      clearInterval(timer);
      await server.stop();
      chain.stop();
    },
  };
}
