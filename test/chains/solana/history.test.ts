import assert from 'node:assert/strict';
import { SystemProgram } from 'solana-web3-v1';
import type { AccountTransaction, HistoryAsked } from '../../../commands/accountHistory.ts';
import { tokenAccountRent } from '../../../src/chains/solana/config.ts';
import { createSolanaHistory } from '../../../src/chains/solana/history.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { orderTo, type SolanaWorld, signal, solanaWorld, usdcToken } from './world.ts';

describe('the history of an account on Solana', () => {
  let world: SolanaWorld;
  let account: string;
  let history: ReturnType<typeof createSolanaHistory>;
  before(async () => {
    world = await solanaWorld();
    account = world.treasury.publicKey.toBase58();
    history = createSolanaHistory(createSolanaRpc(world.config()));
  });
  after(() => world.lab.stop());

  async function all(asked: Omit<HistoryAsked, 'account' | 'after' | 'max'>, max = 100) {
    const found: AccountTransaction[] = [];
    for (let after: string | null = null, pages = 0; pages < 50; pages++) {
      const page = await history.transactions({ ...asked, account, max, after }, signal);
      found.push(...page.transactions);
      if (page.next === null) return found;
      after = page.next;
    }
    throw new Error('the history has no end');
  }

  it('has payouts with their rent, receipts of token and coin, failed transactions, and adds up', async () => {
    const { lab, rail } = world;
    const opening = await history.standing(account, signal);
    const paid = await world.attemptTo(orderTo(world.nobody(), 5n));
    await rail.broadcast(paid.bytes);
    world.settle();
    const stranger = await lab.person(10n);
    const token = await lab.pay({ from: stranger, to: world.treasury.publicKey, amount: 3n });
    const gift = SystemProgram.transfer({
      fromPubkey: stranger.publicKey,
      toPubkey: world.treasury.publicKey,
      lamports: 77,
    });
    const coin = await lab.send(await lab.signed(stranger, [gift]));
    const tooMuch = SystemProgram.transfer({
      fromPubkey: world.treasury.publicKey,
      toPubkey: stranger.publicKey,
      lamports: 10 ** 15,
    });
    const failed = await lab.send(await lab.signed(world.treasury, [tooMuch]), { skipPreflight: true });
    world.settle();
    const closing = await history.standing(account, signal);

    const range = { from: opening.blockNumber + 1n, to: closing.blockNumber };
    const found = await all({ ...range, order: 'oldestFirst' });
    const sums: Record<string, bigint> = { ...opening.balances };
    for (const { fee, changes } of found) {
      sums['coin'] = (sums['coin'] ?? 0n) - fee;
      for (const { asset, amount } of changes) sums[asset] = (sums[asset] ?? 0n) + amount;
    }
    assert.deepEqual(sums, closing.balances);

    const of = (hash: string) => found.find(({ txHash }) => txHash === hash);
    const { address: asset } = usdcToken;
    assert.deepEqual(of(paid.hash)?.outgoing, true);
    assert.deepEqual(
      of(paid.hash)?.changes.map(({ asset, amount }) => [asset, amount]),
      [
        ['coin', -tokenAccountRent],
        [asset, -5n],
      ],
    );
    const from = stranger.publicKey.toBase58();
    assert.deepEqual(of(token)?.changes, [{ asset, amount: 3n, counterparty: from }]);
    assert.deepEqual(of(coin)?.changes, [{ asset: 'coin', amount: 77n, counterparty: from }]);
    assert.deepEqual([of(failed)?.succeeded, of(failed)?.changes, of(failed)?.fee], [false, [], 5_000n]);
    assert.deepEqual(
      (await all({ ...range, order: 'newestFirst' }, 1)).map(({ txHash }) => txHash).toSorted(),
      found.map(({ txHash }) => txHash).toSorted(),
    );
  });
});
