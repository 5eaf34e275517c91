import { instant } from '../../../../domain/time.ts';
import type { Ingester } from '../../ports.ts';
import { type StellarConfig, stellarChainId } from '../config.ts';
import { ledgerRange, transactionOf } from '../reads.ts';
import { createStellarRpc, type StellarRpc } from '../rpc.ts';
import { createScanner } from './scanner.ts';
import { createTransferReader } from './transfers.ts';

/**
 * Reads what reaches the treasury in tokens of the catalogue, and through the payin contract. Every method throws ChainUnavailable when no node can answer.
 */
export function createStellarIngester(config: StellarConfig, rpc: StellarRpc = createStellarRpc(config)): Ingester {
  const reader = createTransferReader(config);
  const { treasury, payinContract } = config;
  return {
    chainId: stellarChainId,
    passes: ['final'],
    // Nothing waits for a deeper finality where one ledger is final.
    largeFrom: null,
    sharedAddresses: payinContract === null ? [treasury] : [treasury, payinContract],
    ...createScanner(config, rpc, reader),

    async lookUp(txHash, signal) {
      const found = await rpc.first(async (node) => {
        const transaction = await transactionOf(node, txHash);
        return transaction.status === 'NOT_FOUND' ? undefined : transaction;
      }, signal);
      return found ? reader.transfers(found, txHash) : [];
    },

    hasLeft: async () => false,

    async head(signal) {
      const ranges = await rpc.every((node) => ledgerRange(node), signal);
      const { latest } = ranges.reduce((a, b) => (b.latest.ledger > a.latest.ledger ? b : a));
      return { blockNumber: latest.ledger, chainTime: instant(latest.closedAt_s * 1_000) };
    },

    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const { latest } = await ledgerRange(connect(signal));
      return { blockNumber: latest.ledger, mark: String(latest.ledger) };
    }),
  };
}
