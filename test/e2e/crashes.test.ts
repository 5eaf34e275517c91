import { crashPoints, survivesCrashes } from './crashes.ts';

describe('kill -9 with payments in flight', () => {
  survivesCrashes({ points: crashPoints });
});
