import { sweepRounds, sweepsSurviveCrashes } from './sweeps.ts';

describe('sweeps', () => {
  sweepsSurviveCrashes({ rounds: sweepRounds });
});
