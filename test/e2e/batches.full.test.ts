import { batchesSurviveCrashes } from './batches.ts';

describe('batches of payouts, and kill -9', () => batchesSurviveCrashes());
