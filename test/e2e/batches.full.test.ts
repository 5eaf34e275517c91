import { batchesSurviveCrashes } from './batches.ts';

describe('payouts that are put together, and kill -9', () => batchesSurviveCrashes());
