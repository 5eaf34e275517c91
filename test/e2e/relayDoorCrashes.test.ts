import { isFull } from '../support/suite.ts';
import { survivesRelayCrashes } from './relayCrashes.ts';

describe('kill -9 between the creation of a link’s payment and its relay', () => {
  // In the order of life: a repeated header finds the payment, then the relay. The gate kills the service behind the payment, and
  // behind the broadcast of its relay. Each point of a relay's worker also ends it in one process: test/workers/relays.test.ts.
  survivesRelayCrashes({
    at: 'link',
    points: [
      ...(isFull ? ['PaymentCreated.afterAppend'] : []),
      'relay.afterCreate',
      ...(isFull ? ['relay.afterReserve', 'RelayOrdered.afterAppend', 'relay.beforeBroadcast'] : []),
      'relay.afterBroadcast',
    ],
  });
});
