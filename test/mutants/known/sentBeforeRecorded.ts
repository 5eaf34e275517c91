import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payout is sent before its hash is saved',
  seenIn: 'elizaOS#10588: killed between the transfer and saving its hash, it paid twice',
  file: 'src/workers/payouts/sign.ts',
  from: '    const outcome = await owner.sign(key, attempt);',
  to: ['    await deps.rail.broadcast(attempt.bytes);', '    const outcome = await owner.sign(key, attempt);'].join(
    '\n',
  ),
  breaks: 'paidOnce',
  specs: ['test/workers/payouts/worker.test.ts'],
  seed: 1,
};
