import { Memo } from '@stellar/stellar-sdk';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { orderTo, payingWorld, railOf } from '../stellar/paying.ts';
import { signal, watching } from '../stellar/world.ts';
import type { Ground } from './trial.ts';
import { watcher } from './watcher.ts';

export async function stellarGround(): Promise<Ground> {
  const world = await payingWorld();
  let payins = 0;

  return {
    family: 'stellar',
    rpcUrl: world.stellar.rpcUrl,
    advance: async () => world.stellar.closeLedgers(2),

    async payin(urls) {
      const ours = `weather ${++payins}`;
      const ingesterOf = (of: readonly string[]) => watching(world.config(of)).ingester;
      const from = new Map(ingesterOf(urls).passes.map((pass) => [pass, { ...world.here(), pass }]));
      await world.send('0.0000005', Memo.text(ours));
      return watcher({ ingesterOf, urls, paid: 5n, isOurs: ({ memo }) => memo === ours, from });
    },

    async payout(urls) {
      const receiver = (await world.lab.person(0n)).publicKey();
      const rail = railOf(world, urls);
      const nonce = await world.nextNonce();
      let attempt: SignedAttempt | undefined;
      return {
        ordered: 7n,
        async step() {
          attempt ??= await world.sign(await rail.numbering.prepare(orderTo(receiver, 7n), nonce));
          const { kind } = await rail.fate([attempt], signal);
          if (kind === 'unknown') await rail.broadcast(attempt.bytes);
          return kind === 'final' ? 'final' : 'waits';
        },
        arrived: () => world.lab.balance(receiver),
      };
    },
  };
}
