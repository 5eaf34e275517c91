/** A chain family of stubs, a file for each room: the minimum of a new family. */
import type { Family } from '../../../src/chains/family.ts';
import { canonicalAddress, canonicalTxHash } from './addresses.ts';
import { deposits } from './deposits.ts';
import { createHistory } from './history.ts';
import { createIngester } from './payins.ts';
import { createRail } from './payouts.ts';
import { createSigner } from './signer.ts';
import { readTreasury } from './treasury.ts';

/** It uses the name of an existing family, because the domain lists the families. */
export const draft = {
  name: 'stellar',
  coinDecimals: 9,
  choosesDepth: false,
  canonicalAddress,
  canonicalTxHash,
  readTreasury,
  open(settings, { address }) {
    return {
      family: 'stellar',
      chains: settings.map(({ chainId, poll_ms = 1_000 }) => ({
        ingester: createIngester(chainId),
        rail: createRail(chainId, address),
        history: createHistory(chainId),
        health: { nodes: [], finalSteps_ms: 1_000 },
        poll_ms,
      })),
      deposits,
      canReceive: null,
      misfit: null,
    };
  },
  isOwnDeposit: async () => false,
  derivesDepositFromPayment: true,
  openSigner: ({ address }) => createSigner(address),
} satisfies Family;
