import { ask, type ChainNode, list, object, optional, RpcFailed } from '../node/jsonRpc.ts';
import { type ChainRpc, type ChainRpcOptions, createChainRpc } from '../node/nodes.ts';
import type { StellarConfig } from './config.ts';
import { ledgerRange } from './reads.ts';

export { RpcFailed } from '../node/jsonRpc.ts';
export { ChainUnavailable } from '../node/nodes.ts';
export type StellarNode = ChainNode;
export type StellarRpc = ChainRpc;

export const createStellarRpc = ({
  chainId,
  rpcUrls,
  agree,
  callTimeout_ms,
  lines,
  networkPassphrase,
}: Pick<StellarConfig, 'chainId' | 'rpcUrls' | 'agree' | 'callTimeout_ms' | 'networkPassphrase'> &
  Pick<ChainRpcOptions, 'lines'>): StellarRpc =>
  createChainRpc({
    chainId,
    rpcUrls,
    agree,
    callTimeout_ms,
    lines,
    async verify(node) {
      await verifyNetwork(node, networkPassphrase);
      await verifyEvents(node);
    },
  });

async function verifyNetwork(node: StellarNode, passphrase: string): Promise<void> {
  const served = await ask(node, 'getNetwork', {}, (answer) => object(answer)['passphrase']);
  if (served === passphrase) return;
  throw new RpcFailed(node.name, 'getNetwork', 'unfit', `serves the network "${served}", not "${passphrase}"`);
}

/** Enough to hold a transaction on a busy network. */
const sampled_ledgers = 20;

/**
 * Nodes emit classic payments as events (CAP-67) unless their operator disabled that. A node without them would hide payins and report no
 * error. With them, every transaction has a fee event, so one transaction is enough to know.
 */
async function verifyEvents(node: StellarNode): Promise<void> {
  const { oldest, latest } = await ledgerRange(node);
  const startLedger = Math.max(Number(oldest.ledger), Number(latest.ledger) - sampled_ledgers);
  const method = 'getTransactions';
  const events = await ask(node, method, { startLedger, pagination: { limit: 1 } }, (answer) => {
    const [any] = optional(object(answer)['transactions'], list) ?? [];
    const own = optional(any, (transaction) => optional(object(transaction)['events'], object) ?? {});
    return own && (optional(own['transactionEventsXdr'], list) ?? []);
  });
  if (events === undefined || events.length > 0) return;
  const detail =
    'it emits no events for classic transactions (CAP-67): use another node, or set EMIT_UNIFIED_EVENTS there';
  throw new RpcFailed(node.name, method, 'unfit', detail);
}
