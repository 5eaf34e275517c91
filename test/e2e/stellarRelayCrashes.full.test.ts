import { survivesRelayCrashes } from './relayCrashes.ts';

describe('kill -9 with an authorization entry on its way on Stellar', () => {
  survivesRelayCrashes({
    on: 1500,
    points: [
      'relay.afterReserve',
      'RelayOrdered.afterAppend',
      'relay.beforeSign',
      'relay.afterSign',
      'RelaySigned.beforeAppend',
      'RelaySigned.afterAppend',
      'relay.beforeBroadcast',
      'relay.afterBroadcast',
      'RelayConfirmed.beforeAppend',
      'RelayConfirmed.afterAppend',
    ],
  });
});
