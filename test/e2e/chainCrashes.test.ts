import { gateCases } from '../support/suite.ts';
import { chainRounds, survivesChainCrashes } from './chainCrashes.ts';

const gatePoints: ReadonlySet<string> = new Set(['payout.beforeBroadcast', 'payout.afterBroadcast']);

describe('kill -9 with payments between Stellar and Solana in flight', () => {
  survivesChainCrashes({ rounds: gateCases(chainRounds, ({ point }) => gatePoints.has(point)) });
});
