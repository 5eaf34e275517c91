import type { Treasury } from '../../../src/chains/family.ts';

export const readTreasury = (): Treasury => ({ address: 'D-treasury', key: null });
