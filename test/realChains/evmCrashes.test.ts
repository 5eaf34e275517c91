/** Credit that buyers earn and spend, and batches of payouts, in one world on real EVM nodes; the service is killed on the way. */
import { batchCrashPoints, batchesSurviveCrashes } from '../e2e/batches.ts';
import { cashbackSurvivesCrashes, crashPoints } from '../e2e/cashback.ts';
import { describeOnReal } from '../support/realNodes.ts';
import { createSandbox } from '../support/sandbox.ts';
import { gateCases } from '../support/suite.ts';

/** A payout follows this point. Elsewhere the credit's life does not use the chain: the full suite dies there, and in test/realStore/crashes.test.ts. */
const points = gateCases(crashPoints, (point) => point === 'withdrawal.afterDecided');
/** One batch is cut off while it reports to its payments. */
const batchPoints = gateCases(batchCrashPoints, (point) => point === 'PayoutConfirmed.afterAppend');

describeOnReal(['GETH'], 'kill -9 of the service', () => {
  const sandbox = createSandbox({ chains: [8453, 1], onRealNodes: true });
  after(() => sandbox.destroy());

  describe('cashback', () => cashbackSurvivesCrashes({ sandbox, points }));

  describe('payouts that are put together', () =>
    batchesSurviveCrashes({ sandbox, settings: {}, points: batchPoints }));
});
