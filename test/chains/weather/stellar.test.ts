import { stellarGround } from './stellarGround.ts';
import { weatherTrials } from './tried.ts';

describe('weather on Stellar', () => {
  weatherTrials('stellar', stellarGround);
});
