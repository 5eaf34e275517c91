import { Keypair } from 'solana-web3-v1';
import type { Cursor, Pass } from '../../../commands/chainPorts.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { watching } from '../solana/payins/watching.ts';
import { orderTo, signal, solanaWorld } from '../solana/world.ts';
import type { Ground } from './trial.ts';
import { watcher } from './watcher.ts';

export async function solanaGround(): Promise<Ground> {
  const world = await solanaWorld();
  const payer = await world.lab.person();
  world.settle();
  let payouts = 0;

  return {
    family: 'solana',
    rpcUrl: world.solana.rpcUrl,
    advance: async () => world.settle(),

    async payin(urls) {
      const deposit = Keypair.generate().publicKey;
      const ingesterOf = (of: readonly string[]) => watching(world, [deposit], [...of]).ingester;
      const honest = watching(world, []);
      const from = new Map<Pass, Cursor>();
      for (const pass of honest.ingester.passes) from.set(pass, await honest.cursor(pass));
      await world.lab.pay({ from: payer, to: deposit, amount: 5n });
      return watcher({ ingesterOf, urls, paid: 5n, isOurs: ({ to }) => to === String(deposit), from });
    },

    async payout(urls) {
      const receiver = Keypair.generate().publicKey;
      const reference = `weather ${++payouts}`;
      const rail = world.railOf(urls);
      let attempt: SignedAttempt | undefined;
      return {
        ordered: 7n,
        async step() {
          const prepared = () => rail.numbering.prepare(orderTo(receiver, 7n, { reference }));
          attempt ??= await world.sign(await prepared(), 1, { kind: 'payout', reference });
          const { kind } = await rail.fate([attempt], signal);
          if (kind === 'unknown') await rail.broadcast(attempt.bytes);
          return kind === 'final' ? 'final' : 'waits';
        },
        arrived: async () => (await world.balance(receiver)) ?? 0n,
      };
    },
  };
}
