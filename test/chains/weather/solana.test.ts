import { solanaGround } from './solanaGround.ts';
import { weatherTrials } from './tried.ts';

describe('weather on Solana', () => {
  weatherTrials('solana', solanaGround);
});
