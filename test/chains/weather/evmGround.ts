import { type Address, erc20Abi } from 'viem';
import { chainOf, findToken } from '../../../domain/chains.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import type { Cursor, Pass } from '../../../src/chains/ports.ts';
import { accountOf, treasury } from '../../support/anvil.ts';
import { signedBy } from '../evm/payouts/signing.ts';
import { createWorld, evmConfig, ingesterOf, observe, signal } from '../evm/world.ts';
import type { Ground } from './trial.ts';
import { watcher } from './watcher.ts';

const depth = 3;
const token = findToken(chainOf(8453), 'USDC')!;

export async function evmGround(): Promise<Ground> {
  const world = await createWorld(8453);
  await fund(world.rpcUrl, 8453, treasury, { gas: 10n ** 19n, tokens: { USDC: 10n ** 12n } });
  const depths = { final: depth, finalLarge: depth, payout: depth };
  const railOf = (urls: readonly string[]) => createEvmPayoutRail({ ...evmConfig(8453, urls), depths }, treasury);
  const [honest, ours] = [ingesterOf([world.rpcUrl], depths), railOf([world.rpcUrl])];
  const cursors = new Map<Pass, Cursor>();
  let accounts = 7_000;

  /** Returns the cursors of the passes now. */
  async function follow(): Promise<ReadonlyMap<Pass, Cursor>> {
    for (const pass of honest.passes) {
      const observer = await observe(honest, pass, cursors.get(pass));
      await observer.follow();
      cursors.set(pass, observer.cursor());
    }
    return cursors;
  }

  return {
    family: 'evm',
    rpcUrl: world.rpcUrl,
    advance: () => world.mine(2 * depth),

    async payin(urls) {
      const deposit = accountOf(++accounts);
      const from = await follow();
      await world.pay(deposit, 5n);
      const isOurs = ({ to }: { readonly to: string }) => to === deposit;
      return watcher({ ingesterOf: (of) => ingesterOf(of, depths), urls, paid: 5n, isOurs, from });
    },

    async payout(urls) {
      const receiver = accountOf(++accounts);
      const order = { chainId: 8453, token, receiver, receiverMemo: null, amount: 7n } as const;
      const rail = railOf(urls);
      const nonce = await ours.numbering.minedNonce(signal);
      let attempt: SignedAttempt | undefined;
      return {
        ordered: 7n,
        async step() {
          attempt ??= await signedBy(await rail.numbering.prepare(order, nonce));
          const { kind } = await rail.fate([attempt], signal);
          if (kind === 'unknown') await rail.broadcast(attempt.bytes);
          return kind === 'final' ? 'final' : 'waits';
        },
        arrived: () =>
          world.client.readContract({
            address: token.address as Address,
            abi: erc20Abi,
            functionName: 'balanceOf',
            args: [receiver],
          }),
      };
    },
  };
}
