import { gateCases } from '../support/suite.ts';
import { chainRounds, survivesChainCrashes } from './chainCrashes.ts';

describe('kill -9 with payments between Stellar and Solana in flight', () => {
  survivesChainCrashes({ rounds: gateCases(chainRounds, ({ point }) => point === 'payout.afterBroadcast') });
});
