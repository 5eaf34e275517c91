import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an attempt that waits for long is signed again under the next nonce instead of outbid',
  seenIn: 'rrelayer#113: a stranded nonce, and a second transfer after it',
  file: 'src/workers/payouts/sign.ts',
  from: '      replaced ? bump(deps, order, replaced) : numberInTurn(deps, { prepared, order, wanted }, signal),',
  to: '      numberInTurn(deps, { prepared, order, wanted }, signal),',
  breaks: 'paidOnce',
  specs: ['test/workers/payouts/sign.test.ts'],
};
