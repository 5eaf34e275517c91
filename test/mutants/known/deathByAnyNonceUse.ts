import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an unknown transaction with the nonce makes the transfer dead, and it is paid again',
  seenIn: 'open-etc-pool#59: the log had lost its end, and the transaction was its own',
  file: 'src/workers/payouts/fate.ts',
  from: '    return report(deps, { ...used, detail: fate.proof.detail, proven: true }, asked, fate);',
  to: '    return fate;',
  breaks: 'deadIsProven',
  specs: ['test/workers/payouts/knownFate.test.ts'],
};
