import { type ChainNode, type ChainRpc, createChainRpc, RpcFailed } from '../node/jsonRpc.ts';
import type { StellarConfig } from './config.ts';
import { ledgerRange } from './reads.ts';

export { ChainUnavailable, RpcFailed } from '../node/jsonRpc.ts';
export type StellarNode = ChainNode;
export type StellarRpc = ChainRpc;

export const createStellarRpc = ({
  chainId,
  rpcUrls,
  callTimeout_ms,
  networkPassphrase,
}: Pick<StellarConfig, 'chainId' | 'rpcUrls' | 'callTimeout_ms' | 'networkPassphrase'>): StellarRpc =>
  createChainRpc({
    chainId,
    rpcUrls,
    callTimeout_ms,
    async verify(node) {
      await verifyNetwork(node, networkPassphrase);
      await verifyEvents(node);
    },
  });

async function verifyNetwork(node: StellarNode, passphrase: string): Promise<void> {
  const { passphrase: served } = (await node.request('getNetwork', {})) as { passphrase?: string };
  if (served === passphrase) return;
  throw new RpcFailed(node.name, 'getNetwork', 'refused', `serves the network "${served}", not "${passphrase}"`);
}

/**
 * Classic payments show as events (CAP-67) only where the node's operator left that on. Then every transaction has the event of its
 * fee, so any one tells. A node that does not would make us blind to payins without an error.
 */
async function verifyEvents(node: StellarNode): Promise<void> {
  const { oldest, latest } = await ledgerRange(node);
  const startLedger = Math.max(Number(oldest.ledger), Number(latest.ledger) - lookedAt_ledgers);
  const answer = await node.request('getTransactions', { startLedger, pagination: { limit: 1 } });
  const [any] =
    (answer as { transactions?: readonly { events?: { transactionEventsXdr?: string[] } }[] }).transactions ?? [];
  if (!any || (any.events?.transactionEventsXdr?.length ?? 0) > 0) return;
  const detail =
    'it emits no events for classic transactions (CAP-67): use another node, or set EMIT_UNIFIED_EVENTS there';
  throw new RpcFailed(node.name, 'getTransactions', 'refused', detail);
}

const lookedAt_ledgers = 20;
