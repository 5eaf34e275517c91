import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an error of the broadcast counts as proof that nothing was sent',
  seenIn: 'bullbitcoin#2601: the node had the transaction, and it was paid again',
  file: 'src/workers/payouts/worker.ts',
  from: '    if (failure && !outbid) throw failure.error;',
  to: [
    '    if (failure) {',
    "      const proof = { reason: 'nonceUsed', detail: 'it could not be sent' } as const;",
    "      await ownerOf(outgoing).conclude(outgoing.key, { kind: 'dead', attempts: [latest.attempt], proof });",
    '      return true;',
    '    }',
  ].join('\n'),
  breaks: 'deadIsProven',
  specs: ['test/workers/payouts/worker.test.ts'],
};
