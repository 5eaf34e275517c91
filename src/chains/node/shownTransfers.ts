/** Transfers that nodes have shown as final when they were read: none is asked again for what it has just shown itself. */
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { boundedMap } from '../../lib/boundedMap.ts';
import { sameTransfer } from '../ports.ts';
import type { ChainNode } from './jsonRpc.ts';

type Named = Pick<ChainNode, 'name'>;

export interface ShownTransfers {
  show(node: Named, transfers: readonly Transfer[]): void;
  /** Whether the node itself has shown just this transfer, in this block. */
  isShownBy(node: Named, transfer: Transfer): boolean;
}

const keptMax = 10_000;

export function createShownTransfers(): ShownTransfers {
  const shown = boundedMap<Transfer>(keptMax);
  const keyOf = ({ name }: Named, transfer: Transfer) => `${name} ${transferId(transfer)}`;
  return {
    show(node, transfers) {
      for (const transfer of transfers) shown.set(keyOf(node, transfer), transfer);
    },
    isShownBy(node, transfer) {
      const known = shown.get(keyOf(node, transfer));
      return known !== undefined && sameTransfer(known, transfer);
    },
  };
}
