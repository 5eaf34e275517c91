import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the scan continues after a block that has left the chain',
  seenIn: 'watchers that store a height without its hash',
  file: 'src/chains/evm/payins/scanner.ts',
  from: ["    if (there.hash !== cursor.blockHash) return 'forked';", ''].join('\n'),
  to: '',
  breaks: 'creditedWhenFinal',
  specs: ['test/chains/evm/payins/forks.test.ts'],
};
