/** Payouts that are put together, and credit that buyers earn and spend, on real EVM nodes; the service is killed on the way. */
import { batchesSurviveCrashes } from '../e2e/batches.ts';
import { cashbackSurvivesCrashes } from '../e2e/cashback.ts';
import { describeOnReal } from '../support/realNodes.ts';

describeOnReal(['GETH'], 'payouts that are put together, and kill -9', () =>
  batchesSurviveCrashes({ onRealNodes: true }),
);
describeOnReal(['GETH'], 'cashback', () => cashbackSurvivesCrashes({ onRealNodes: true }));
