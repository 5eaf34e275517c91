/** Credit that buyers earn and spend, and batches of payouts, in one world on real EVM nodes; the service is killed on the way. */
import type { ChainId } from '../../../domain/chains.ts';
import { batchCrashPoints, batchesSurviveCrashes } from '../../e2e/batches.ts';
import { cashbackSurvivesCrashes, crashPoints } from '../../e2e/cashback.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { createSandbox } from '../../support/sandbox.ts';
import { realEvmChainIds, startSharedRealEvmNodes } from '../../support/sharedSandbox.ts';
import { gateCases } from '../../support/suite.ts';

/** A payout follows this point. Elsewhere the credit's life does not use the chain: the full suite dies there, and in test/realStore/crashes.test.ts. */
const points = gateCases(crashPoints, (point) => point === 'withdrawal.afterDecided');
/** One batch is cut off while it reports to its payments. */
const batchPoints = gateCases(batchCrashPoints, (point) => point === 'PayoutConfirmed.afterAppend');

describeOnReal(['GETH'], 'kill -9 of the service', () => {
  let nodeUrls: ReadonlyMap<ChainId, string>;
  const sandbox = createSandbox({ chains: realEvmChainIds, onRealNodes: true, nodeUrls: () => nodeUrls });
  before(async () => {
    nodeUrls = await startSharedRealEvmNodes();
  });
  after(() => sandbox.destroy());

  describe('cashback', () => cashbackSurvivesCrashes({ sandbox, points }));

  describe('payouts that are put together', () =>
    batchesSurviveCrashes({ sandbox, settings: {}, points: batchPoints }));
});
