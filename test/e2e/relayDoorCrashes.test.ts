import { isFull } from '../support/suite.ts';
import { survivesRelayCrashes } from './relayCrashes.ts';

describe('kill -9 between the creation of a link’s payment and its relay', () => {
  const more = isFull ? ['PaymentCreated.afterAppend', 'relay.afterReserve', 'relay.beforeBroadcast'] : [];
  survivesRelayCrashes({ at: 'link', points: ['relay.afterCreate', 'RelayOrdered.afterAppend', ...more] });
});
