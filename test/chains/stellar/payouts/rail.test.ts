import assert from 'node:assert/strict';
import { Asset, Keypair, Operation, scValToNative, TransactionBuilder } from '@stellar/stellar-sdk';
import { BroadcastRefused, PayoutBlocked } from '../../../../commands/transferPorts.ts';
import { addFault, fundAccount } from '../../../../sandbox/stellar/controls.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { muxed } from '../../../support/stellar.ts';
import { orderTo, type PayingWorld, payingWorld } from '../paying.ts';
import { signal } from '../world.ts';

const blockedBy = (reason: PayoutBlocked['reason']) => (error: unknown) =>
  error instanceof PayoutBlocked && error.reason === reason;

describe('payouts on Stellar', () => {
  let world: PayingWorld;
  beforeEach(async () => {
    world = await payingWorld({ ledger_ms: 'manual' });
  });
  afterEach(() => world.lab.stop());

  const closeLedgers = (count = 1, seconds = 5) => world.stellar.closeLedgers(count, seconds);
  const fault = (kind: 'drop' | 'lostAnswer' | 'duplicate' | 'tryAgainLater') =>
    addFault(world.stellar.rpcUrl, { method: 'sendTransaction', kind });

  describe('land, exactly once,', () => {
    it('at an account, with the memo', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      const attempt = await world.attemptTo(orderTo(receiver, 12_3456789n, 'invoice 7'));
      for (const _ of [1, 2]) await world.rail.broadcast(attempt.bytes);
      assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'unknown' });
      closeLedgers();
      const fate = await world.rail.fate([attempt], signal);
      const { sequence } = world.stellar.chain.history.head();
      assert.deepEqual(fate, {
        kind: 'final',
        attempt: 1,
        hash: attempt.hash,
        blockNumber: BigInt(sequence),
        blockHash: `ledger ${sequence}`,
        cost: { payer: world.treasury.publicKey(), fee: '100' },
      });
      assert.equal(await world.rail.stillFinal({ ...fate } as never, signal), true);
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal(await world.lab.balance(receiver), 12_3456789n);
      assert.equal(await memoSeen(attempt.hash), 'invoice 7');
    });

    it('at a muxed account', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      const attempt = await world.attemptTo(orderTo(muxed(receiver, 77n)));
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await world.lab.balance(receiver), 5_0000000n);
      assert.equal(await memoSeen(attempt.hash), '77');
    });

    it('not at an account that requires a memo since the payment was created: nothing is signed', async () => {
      const person = await world.lab.person(0n);
      const going = world.lab.go(person, [Operation.manageData({ name: 'config.memo_required', value: '1' })]);
      closeLedgers();
      await going;
      await assert.rejects(world.attemptTo(orderTo(person.publicKey())), blockedBy('refusedByToken'));
    });

    it('at a contract', async () => {
      const attempt = await world.attemptTo(orderTo(world.payinContract));
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await world.lab.balance(world.payinContract), 5_0000000n);
    });

    it('when the answer to sending them was lost, or they arrived twice', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      for (const kind of ['lostAnswer', 'duplicate'] as const) {
        const attempt = await world.attemptTo(orderTo(receiver, 1n));
        await fault(kind);
        await world.rail.broadcast(attempt.bytes).catch((error) => assert.ok(error instanceof ChainUnavailable));
        await world.rail.broadcast(attempt.bytes);
        closeLedgers();
        assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      }
      assert.equal(await world.lab.balance(receiver), 2n);
    });

    it('when the network accepted them later', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      const attempt = await world.attemptTo(orderTo(receiver));
      await fault('tryAgainLater');
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'unknown' });
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
    });

    it('one after the other when several are in flight', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      const attempts = [await world.attemptTo(orderTo(receiver, 1n)), await world.attemptTo(orderTo(receiver, 2n), 1n)];
      const [first, second] = attempts;
      assert.ok(first && second);
      await world.rail.broadcast(second.bytes);
      for (let ledgers = 0; ledgers < 2; ledgers++) {
        for (const { bytes } of attempts) await world.rail.broadcast(bytes);
        closeLedgers();
      }
      for (const attempt of attempts) assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await world.lab.balance(receiver), 3n);
    });
  });

  describe('outbid payouts on Stellar', () => {
    it('offer ten times as much for the same transaction, and whichever envelope lands, it lands once', async () => {
      for (const receiver of [(await world.lab.person(0n)).publicKey(), world.payinContract]) {
        const first = await world.attemptTo(orderTo(receiver));
        await world.rail.broadcast(first.bytes);
        const nonce = BigInt(first.nonce ?? 0);
        const second = await world.sign(await world.rail.numbering.prepare(orderTo(receiver), nonce, first), 2);
        const third = await world.sign(await world.rail.numbering.prepare(orderTo(receiver), nonce, second), 3);
        assert.deepEqual(
          [first, second, third].map(({ fee }) => fee['inclusion']),
          ['1000', '10000', '100000'],
        );
        assert.equal(second.validUntil, first.validUntil);
        for (const { bytes } of [third, second, first]) await world.rail.broadcast(bytes);
        closeLedgers();
        const fate = await world.rail.fate([first, second, third], signal);
        assert.deepEqual(fate.kind === 'final' && [fate.attempt, fate.hash], [3, third.hash]);
        assert.equal(await world.lab.balance(receiver), 5_0000000n);
      }
    });

    it('are settled by the first when that one landed nevertheless', async () => {
      const order = orderTo((await world.lab.person(0n)).publicKey());
      const first = await world.attemptTo(order);
      const second = await world.sign(await world.rail.numbering.prepare(order, BigInt(first.nonce ?? 0), first), 2);
      await world.rail.broadcast(first.bytes);
      closeLedgers();
      const fate = await world.rail.fate([first, second], signal);
      assert.deepEqual(fate.kind === 'final' && [fate.attempt, fate.hash], [1, first.hash]);
    });

    it('never offer more than the configured maximum', async () => {
      const order = orderTo((await world.lab.person(0n)).publicKey());
      const first = await world.attemptTo(order);
      const dear = { ...first, fee: { ...first.fee, inclusion: '200000' } };
      await assert.rejects(world.rail.numbering.prepare(order, BigInt(first.nonce ?? 0), dear), blockedBy('gas'));
    });
  });

  describe('are not prepared', () => {
    it('without a trustline, or for a contract with a memo', async () => {
      const bare = Keypair.random().publicKey();
      await fundAccount(world.stellar.rpcUrl, bare, {});
      const nonce = await world.nextNonce();
      await assert.rejects(world.rail.numbering.prepare(orderTo(bare), nonce), blockedBy('refusedByToken'));
      const memo = orderTo(world.payinContract, 1n, 'memo');
      await assert.rejects(world.rail.numbering.prepare(memo, nonce), blockedBy('refusedByToken'));
    });

    it('without the float, or lumens for the fee', async () => {
      const receiver = (await world.lab.person(0n)).publicKey();
      const nonce = await world.nextNonce();
      const { tokens } = await world.rail.balances(signal);
      const held = tokens[orderTo('').token.address] ?? 0n;
      assert.equal(held, 1_000_0000000n);
      await assert.rejects(world.rail.numbering.prepare(orderTo(receiver, held + 1n), nonce), blockedBy('float'));
      const { gas } = await world.rail.balances(signal);
      // The whole float except a thousand stroops.
      const amount = (Number(gas - 2_000n) / 1e7).toFixed(7);
      const away = Operation.payment({ destination: receiver, asset: Asset.native(), amount });
      await world.lab.go(world.treasury, [away]);
      await assert.rejects(world.rail.numbering.prepare(orderTo(receiver), nonce + 1n), blockedBy('gas'));
    });
  });

  it('and state a permanent refusal of the network', async () => {
    const attempt = await world.attemptTo(orderTo((await world.lab.person(0n)).publicKey()));
    const stranger = Keypair.random();
    const forged = await world.rail.numbering.prepare(orderTo(attempt.receiver), await world.nextNonce());
    const { envelope } = forged.payload as { envelope: string };
    const transaction = TransactionBuilder.fromXDR(envelope, world.lab.passphrase);
    transaction.sign(stranger);
    const refused = world.rail.broadcast(transaction.toEnvelope().toXDR('base64'));
    await assert.rejects(
      refused,
      (error: Error) => error instanceof BroadcastRefused && /txBadAuth/.test(error.message),
    );
  });

  /** Memo in the network's events of a transfer. */
  async function memoSeen(hash: string): Promise<string> {
    const found = await world.lab.server.getTransaction(hash);
    assert.equal(found.status, 'SUCCESS');
    const [event] = 'events' in found ? found.events.contractEventsXdr.flat() : [];
    assert.ok(event);
    const { to_muxed_id } = scValToNative(event.body().v0().data());
    return String(to_muxed_id);
  }
});
