import { survivesTransferCrashes, transferPoints } from './transferCrashes.ts';

describe('kill -9 with a refund and a withdrawal on their way', () => {
  survivesTransferCrashes({ points: transferPoints });
});
