import { gateCases } from '../support/suite.ts';
import { survivesTransferCrashes, transferPoints } from './transferCrashes.ts';

/**
 * The gate kills the service around the broadcast of the withdrawal, and behind that of the refund. Each point of a refund also ends a worker in
 * one process: test/workers/payouts/refunds.test.ts.
 */
describe('kill -9 with a refund and a withdrawal on their way', () => {
  survivesTransferCrashes({
    points: {
      refund: gateCases(transferPoints.refund, (point) => point.endsWith('.afterBroadcast')),
      withdrawal: gateCases(transferPoints.withdrawal, (point) => point.endsWith('Broadcast')),
    },
  });
});
