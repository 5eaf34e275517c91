import { gateCases } from '../support/suite.ts';
import { sweepRounds, sweepsSurviveCrashes } from './sweeps.ts';

/** Begins with Base and has a round that is not cut off. */
const inGate = ({ chainId }: { readonly chainId: number }) => chainId === 8453 || chainId === 1;

describe('sweeps', () => {
  sweepsSurviveCrashes({ rounds: gateCases(sweepRounds, inGate) });
});
