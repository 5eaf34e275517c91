/** Transactions of version 1, in nearly every block of the public network since September 2026. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('a payin on Solana by a transaction of version 1', () => {
  const own = eachWithDeposit();

  it('is detected, looked up and agreed on like any other, and so are other payments meanwhile', async () => {
    const other = Keypair.generate().publicKey;
    const watcher = watching(own.world, [own.deposit, other]);
    const txHash = await own.pay(1n, own.deposit, 1);
    const before = await own.world.lab.pay({ from: own.payer, to: other, amount: 5_000000n });
    const seen = [
      { to: String(own.deposit), from: String(own.payer.publicKey), amount: 1n, txHash },
      { to: String(other), from: String(own.payer.publicKey), amount: 5_000000n, txHash: before },
    ];
    own.world.solana.advanceSlots(1);
    assert.deepEqual(briefly(await watcher.poll('head')), seen);
    own.world.settle();
    const range = await watcher.poll('final');
    assert.deepEqual(briefly(range), seen);
    const [log] = range?.logs ?? [];
    assert.ok(log);
    const transfer = transferOf(501, log);
    assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), [transfer]);
    assert.deepEqual(await watcher.ingester.agreed(transfer, { pass: 'final', usd: 1n }, signal), { agreed: true });
    assert.equal((await watcher.ingester.readDeposit?.(String(own.deposit), signal))?.explained, true);
  });

  it('is late money, too', async () => {
    const watcher = watching(own.world, []);
    watcher.late.push(String(own.deposit));
    const txHash = await own.pay(4n, own.deposit, 1);
    own.world.settle();
    assert.deepEqual(
      briefly(await watcher.poll('final')).map((each) => each.txHash),
      [txHash],
    );
  });
});
