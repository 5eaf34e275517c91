/** Batches of payouts on real EVM nodes; the service is killed on the way. */
import { batchesSurviveCrashes } from '../e2e/batches.ts';
import { describeOnReal } from '../support/realNodes.ts';

describeOnReal(['GETH'], 'payouts that are put together, and kill -9', () =>
  batchesSurviveCrashes({ onRealNodes: true }),
);
