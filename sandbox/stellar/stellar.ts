/** A Stellar network of one node in this process: the RPC that wallets and services know, over a ledger in memory or a file. */

import { createFaults, type Faults, type StellarFault } from '../faults.ts';
import { type Chain, openChain } from './chain/chain.ts';
import { genesis } from './friendbot.ts';
import { createNetwork } from './ledger/network.ts';
import { closeLedgers } from './rpc/controls.ts';
import type { Node } from './rpc/method.ts';
import { serve } from './server.ts';
import { createQueue } from './transactions/queue.ts';

/** Milliseconds between ledgers. `instant`: each transaction makes one. `manual`: only `closeLedgers` makes one. */
export type LedgerPace = number | 'instant' | 'manual';

export interface StellarOptions {
  readonly ledger_ms: LedgerPace;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** State file between starts. Default: in memory only. */
  readonly stateFile?: string | undefined;
  /** Default: the public network's, so assets have their production contract ids. */
  readonly networkPassphrase?: string | undefined;
  /** Default: 27. From 30 on the node returns ledger headers that the SDK cannot parse. */
  readonly protocol?: number | undefined;
  /** Maximum ledgers that the node remembers. */
  readonly retention_ledgers?: number;
  /** Unix seconds. */
  readonly now_s?: () => number;
}

export interface Stellar {
  readonly rpcUrl: string;
  readonly networkPassphrase: string;
  readonly chain: Chain;
  readonly faults: Faults<StellarFault>;
  /** Closes ledgers, each at least this many seconds after the previous one; the first includes the pending transactions. */
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
