import { evmGround } from './evmGround.ts';
import { weatherTrials } from './tried.ts';

describe('weather on EVM', () => {
  weatherTrials('evm', evmGround);
});
