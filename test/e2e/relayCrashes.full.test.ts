import { relayPoints, survivesRelayCrashes } from './relayCrashes.ts';

describe('kill -9 with a relay on its way', () => {
  survivesRelayCrashes({ points: relayPoints });
});
