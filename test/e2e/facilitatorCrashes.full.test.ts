import { survivesRelayCrashes } from './relayCrashes.ts';

describe('kill -9 while the facilitator settles', () => {
  survivesRelayCrashes({
    at: 'facilitator',
    points: ['relay.afterReserve', 'RelayOrdered.afterAppend', 'relay.beforeBroadcast', 'relay.afterBroadcast'],
  });
});
