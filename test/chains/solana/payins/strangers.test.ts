/** Transfers of unknown senders to a deposit whose address they know, and effects that these must not have. */
import assert from 'node:assert/strict';
import { Keypair, SystemProgram } from 'solana-web3-v1';
import { tokenAccount } from '../../../support/solana.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('strangers at a deposit on Solana', () => {
  const own = eachWithDeposit();

  /** Sends SOL to the token account itself: a transaction without token balances. */
  const lamports = async (count: number, to = own.deposit) => {
    const toPubkey = await tokenAccount(to);
    const transfer = SystemProgram.transfer({ fromPubkey: own.payer.publicKey, toPubkey, lamports: count });
    return own.world.lab.send(await own.world.lab.signed(own.payer, [transfer]));
  };
  const amounts = (range: Parameters<typeof briefly>[0]) => briefly(range).map(({ amount }) => amount);

  it('send SOL to its token account: nothing changes, both passes advance, and money is detected before and after it', async () => {
    const watcher = watching(own.world, [own.deposit]);
    await own.pay(1n);
    await lamports(1);
    for (const pass of ['head', 'final'] as const) {
      own.world.settle();
      const before = (await watcher.cursor(pass)).blockNumber;
      const range = await watcher.poll(pass);
      assert.deepEqual(amounts(range), [1n]);
      assert.deepEqual(range?.unexplained, []);
      assert.ok((await watcher.cursor(pass)).blockNumber > before);
    }
    await lamports(2);
    await own.pay(5n);
    await lamports(3);
    own.world.settle();
    assert.deepEqual(amounts(await watcher.poll('final')), [5n]);
    const anew = watching(own.world, [own.deposit]);
    assert.deepEqual(amounts(await anew.poll('final')), [1n, 5n]);
    assert.equal((await anew.cursor('final')).blockNumber, (await anew.ingester.head(signal)).blockNumber - 3n);
  });

  it('send more than one poll reads: others are detected, and all of it is found without help', async () => {
    const other = Keypair.generate().publicKey;
    await own.pay(1n);
    for (let n = 1; n <= 230; n++) {
      await lamports(n);
      if (n % 50 === 0) own.world.solana.advanceSlots(1);
    }
    await own.pay(7n);
    await own.pay(9n, other);
    own.world.settle();
    const watcher = watching(own.world, [own.deposit, other]);
    const range = await watcher.poll('final');
    assert.deepEqual(amounts(range), [1n, 9n]);
    assert.deepEqual(range?.unexplained, [own.deposit.toBase58()]);
    assert.ok((range?.next.blockNumber ?? 0n) > 0n, 'the pass goes on');
    const found = await watcher.ingester.readDeposit?.(own.deposit.toBase58(), signal);
    assert.deepEqual(
      found?.logs.map(({ amount }) => amount),
      [1n, 7n],
    );
    assert.equal(found?.explained, true);
  });
});
