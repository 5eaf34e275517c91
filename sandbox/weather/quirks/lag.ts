/**
 * A node that is behind. Public and cheap nodes trail the head by a block or more, and still answer: go-ethereum's
 * `eth_syncing` (ethereum.org/developers/docs/apis/json-rpc), Solana's `getHealth` "Node is behind by 42 slots"
 * (solana.com/docs/rpc/http/gethealth), stellar-rpc's `getHealth` with its own latestLedger.
 */
import { type BeyondHead, evmBehind } from '../heights/evm.ts';
import { solanaBehind } from '../heights/solana.ts';
import { createStellarMemory } from '../heights/stellar.ts';
import { type CallEffect, everywhere, onCalls, type Quirk, type QuirkyNode } from '../quirk.ts';

export interface LagSettings {
  /** In the chain's own steps. */
  readonly blocks: number;
  /** For EVM nodes. Default: `refused`. */
  readonly beyond?: BeyondHead;
}

export const lag: Quirk<LagSettings> = {
  families: everywhere,
  says: 'a lag of some blocks, slots or ledgers',
  begin: ({ blocks, beyond = 'refused' }, node) => onCalls(behindOf(node, beyond)(blocks)),
};

/** Answers of a family's node that is this many steps behind. */
export function behindOf({ family }: QuirkyNode, beyond: BeyondHead): (steps: number) => CallEffect {
  if (family === 'evm') return (steps) => evmBehind(steps, beyond);
  if (family === 'solana') return solanaBehind;
  const memory = createStellarMemory();
  return memory.behind;
}
