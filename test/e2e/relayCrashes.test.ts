import { gateCases } from '../support/suite.ts';
import { relayPoints, survivesRelayCrashes } from './relayCrashes.ts';

const inGate = (point: string) => point.endsWith('Broadcast') || point === 'relay.afterReserve';

describe('kill -9 with a relay on its way', () => {
  survivesRelayCrashes({ points: gateCases(relayPoints, inGate) });
});
