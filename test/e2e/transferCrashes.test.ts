import { gateCases } from '../support/suite.ts';
import { survivesTransferCrashes, transferPoints } from './transferCrashes.ts';

const inGate = (point: string) => point.endsWith('Broadcast');

describe('kill -9 with a refund and a withdrawal on their way', () => {
  survivesTransferCrashes({
    points: {
      refund: gateCases(transferPoints.refund, inGate),
      withdrawal: gateCases(transferPoints.withdrawal, inGate),
    },
  });
});
