import { cashbackSurvivesCrashes } from './cashback.ts';

describe('cashback', () => {
  cashbackSurvivesCrashes();
});
