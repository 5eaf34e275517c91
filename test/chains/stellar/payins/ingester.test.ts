import assert from 'node:assert/strict';
import { Asset, Keypair, Memo, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { instant, plus } from '../../../../domain/time.ts';
import { addFault, fundAccount, plantAsset } from '../../../../sandbox/stellar/controls.ts';
import { muxed, usdc } from '../../../support/stellar.ts';
import { briefly, type StellarWorld, scanned, signal, stellarWorld, watching } from '../world.ts';

describe('reading payins on Stellar', () => {
  let world: StellarWorld;
  let treasury: string;
  before(async () => {
    world = await stellarWorld();
    treasury = world.treasury.publicKey();
  });
  after(() => world.lab.stop());

  describe('a detected payin', () => {
    it('has the memo of a classic payment as text: a text, an id, an M address, a hash, none', async () => {
      const from = world.here();
      await world.send('1', Memo.text('to whom'));
      await world.send('2', Memo.id('18446744073709551615'));
      await world.send('3', undefined, muxed(treasury, 42n));
      await world.send('4', Memo.hash('ab'.repeat(32)));
      await world.send('5');
      const { logs } = await scanned(world.config(), from);
      assert.deepEqual(
        logs.map(({ memo, amount }) => [memo, amount]),
        [
          ['to whom', 1_0000000n],
          ['18446744073709551615', 2_0000000n],
          ['42', 3_0000000n],
          [`0x${'ab'.repeat(32)}`, 4_0000000n],
          [null, 5_0000000n],
        ],
      );
      assert.ok(logs.every(({ to, from: sender }) => to === treasury && sender === world.payer.publicKey()));
    });

    it('is one for a call of the payin contract, for the contract with its memo', async () => {
      const from = world.here();
      const txHash = await world.pay(12_3456789n, 'invoice');
      const { logs, ingester } = await scanned(world.config(), from);
      assert.deepEqual(briefly(logs), [{ to: world.payinContract, memo: 'invoice', amount: 12_3456789n }]);
      const [log] = logs;
      assert.ok(log);
      const transfer = transferOf(1500, log);
      assert.deepEqual([transfer?.txHash, transfer?.index], [txHash, 0]);
      assert.deepEqual(await ingester.lookUp(txHash, signal), [transfer]);
    });

    it('is each of several operations in one transaction, under its own number', async () => {
      const from = world.here();
      const payment = (amount: string) => Operation.payment({ destination: treasury, asset: usdc, amount });
      const elsewhere = Operation.payment({ destination: treasury, asset: Asset.native(), amount: '1' });
      const { txHash } = await world.lab.go(world.payer, [payment('1'), elsewhere, payment('2')], Memo.text('both'));
      const { logs, ingester } = await scanned(world.config(), from);
      assert.deepEqual(
        logs.map(({ amount, logIndex }) => [amount, logIndex]),
        [
          [1_0000000n, 0],
          [2_0000000n, 2],
        ],
      );
      assert.equal((await ingester.lookUp(txHash, signal)).length, 2);
    });

    it('is the same in a fee bump by either hash', async () => {
      const from = world.here();
      const payment = Operation.payment({ destination: treasury, asset: usdc, amount: '1' });
      const inner = await world.lab.build(world.payer.publicKey(), [payment], Memo.text('bumped'));
      inner.sign(world.payer);
      const bump = TransactionBuilder.buildFeeBumpTransaction(world.payer, '5000', inner, world.lab.passphrase);
      bump.sign(world.payer);
      await world.lab.send(bump);
      const { logs, ingester } = await scanned(world.config(), from);
      const [log] = logs;
      assert.ok(log && logs.length === 1);
      const seen = [transferOf(1500, log)];
      assert.deepEqual(await ingester.lookUp(inner.hash().toString('hex'), signal), seen);
      assert.deepEqual(await ingester.lookUp(bump.hash().toString('hex'), signal), seen);
    });

    it('is one although an event page contains it twice', async () => {
      const from = world.here();
      await world.send('1', Memo.text('twice'));
      await addFault(world.stellar.rpcUrl, { method: 'getEvents', kind: 'duplicate' });
      const { logs } = await scanned(world.config(), from);
      assert.deepEqual(briefly(logs), [{ to: treasury, memo: 'twice', amount: 1_0000000n }]);
    });

    it('has the bytes of a memo that cannot be kept as text, truncated to fit', async () => {
      const from = world.here();
      await world.pay(1n, 'a\u0000b');
      await world.pay(2n, 'x'.repeat(500));
      const { logs } = await scanned(world.config(), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['0x610062', `0x${'78'.repeat(63)}`],
      );
    });
  });

  describe('an ignored payment', () => {
    it('is another contract’s payment event, another asset of the same name, and a payment to other receivers', async () => {
      const from = world.here();
      const forger = Keypair.random();
      const fake = new Asset('USDC', forger.publicKey());
      await fundAccount(world.stellar.rpcUrl, forger.publicKey(), {});
      const fakeId = await plantAsset(world.stellar.rpcUrl, fake);
      await world.lab.go(world.treasury, [Operation.changeTrust({ asset: fake })]);
      await world.lab.go(
        forger,
        [Operation.payment({ destination: treasury, asset: fake, amount: '900' })],
        Memo.text('7'),
      );

      const holder = await world.lab.person();
      const lookAlike = await world.lab.deployPayin(holder, holder.publicKey());
      await world.pay(5_0000000n, 'look-alike', lookAlike);
      const other = await world.lab.deployPayin(holder, holder.publicKey(), fakeId);
      assert.ok(other);
      await world.send('3', Memo.text('elsewhere'), holder.publicKey());
      const { logs, cursor } = await scanned(world.config(), from);
      assert.deepEqual(logs, []);
      assert.equal(cursor.blockNumber, world.here().blockNumber);
    });

    it('is a failed transaction', async () => {
      const from = world.here();
      const poor = await world.lab.person(1n);
      const payment = Operation.payment({ destination: treasury, asset: usdc, amount: '5' });
      const got = await world.lab.go(poor, [payment], Memo.text('bounced'));
      assert.equal(got.status, 'FAILED');
      const { logs, ingester } = await scanned(world.config(), from);
      assert.deepEqual(logs, []);
      assert.deepEqual(await ingester.lookUp(got.txHash, signal), []);
    });
  });

  describe('the cursor', () => {
    it('reaches the newest closed ledger, with its time, and stays there', async () => {
      const from = world.here();
      world.stellar.closeLedgers(7, 5);
      const { cursor, ingester } = await scanned(world.config(), from);
      const head = world.stellar.chain.history.head();
      assert.equal(cursor.blockNumber, BigInt(head.sequence));
      assert.equal(cursor.chainTime, instant(head.closedAt_s * 1_000));
      assert.deepEqual(await ingester.head(signal), { blockNumber: cursor.blockNumber, chainTime: cursor.chainTime });
      assert.deepEqual((await scanned(world.config(), cursor)).ranges, []);
    });

    it('misses nothing of a thousand ledgers that closed in between, with ranges of any size', async () => {
      const from = world.here();
      const wanted: string[] = [];
      for (let n = 0; n < 10; n++) {
        world.stellar.closeLedgers(100);
        wanted.push(`memo ${n}`);
        if (n % 2) await world.pay(1n, `memo ${n}`);
        else await world.send('0.0000001', Memo.text(`memo ${n}`));
      }
      for (const rangeLedgersMax of [5_000, 64]) {
        const { logs, cursor } = await scanned(world.config(undefined, { rangeLedgersMax }), from);
        assert.deepEqual(
          logs.map(({ memo }) => memo),
          wanted,
        );
        assert.equal(cursor.blockNumber, world.here().blockNumber);
      }
    });

    it('has no time later than its ledger’s while it catches up', async () => {
      const from = world.here();
      world.stellar.closeLedgers(100, 5);
      const { ranges } = await scanned(world.config(undefined, { rangeLedgersMax: 40 }), from);
      assert.deepEqual(
        ranges.map(({ next }) => next.chainTime === from.chainTime),
        [true, true, false],
      );
    });

    it('begins at or before a time, near it', async () => {
      const { ingester } = watching(world.config());
      await world.send('1');
      world.stellar.closeLedgers(1, 3_600);
      await world.send('1');
      const paid = world.here();
      const at = instant(world.stellar.chain.history.head().closedAt_s * 1_000);
      const before = await ingester.start('final', plus(at, -1_000), signal);
      assert.ok(before.blockNumber < paid.blockNumber && before.blockNumber >= paid.blockNumber - 3n);
      assert.ok(before.chainTime <= plus(at, -1_000));
      assert.equal((await ingester.start('final', plus(at, 60_000), signal)).blockNumber, paid.blockNumber);
      const first = await ingester.start('final', instant(0), signal);
      assert.equal(first.blockNumber, BigInt(world.stellar.chain.history.oldest().sequence));
    });
  });
});
