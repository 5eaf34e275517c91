import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key believes that the payer signed',
  seenIn: 'facilitators that accept a forged signature (Bindu #532)',
  file: 'src/chains/evm/signer/signer.ts',
  from: [
    '      isSame(payload, authorizationCall(order)) &&',
    '      // An authorization that the payer did not sign would be reverted, and cost gas.',
    '      (await acceptedSignature(chain.id, authorization, domain, form.signature)) === form.signature;',
  ].join('\n'),
  to: '      isSame(payload, authorizationCall(order));',
  breaks: 'relayedOnce',
  specs: ['test/chains/evm/signer/relaySigner.test.ts'],
};
