import type { Treasury } from '../../../src/chains/treasury.ts';

export const readTreasury = (): Treasury => ({ address: 'D-treasury', key: null });
