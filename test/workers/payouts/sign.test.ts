import assert from 'node:assert/strict';
import fc from 'fast-check';
import { verifyChain } from '../../../commands/codec.ts';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { liveAttempts } from '../../../domain/transfer/leg.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { bounced, died, feeCaps, ordered, reverted } from '../../support/payments.ts';
import { accepted, Crashed, crashAt, noting } from '../../support/processes.ts';
import { assignments, blockedByFloat, first, signingWorld, treasuryStream } from './signing.ts';

type World = Awaited<ReturnType<typeof signingWorld>>;

const attemptsOf = async ({ load }: Pick<World, 'load'>, paymentId = first) =>
  (await load(paymentId)).payout?.attempts.map(({ signed, fate }) => `${signed.attempt} ${signed.nonce} ${fate}`);

describe('signing a payout', () => {
  it('takes the next nonce for it, signs, and records the bytes before anybody could send them', async () => {
    const world = await signingWorld();
    await accepted(world.sign());
    const { payout } = await world.load();
    assert.deepEqual(await world.typesIn(treasuryStream), ['TreasuryOpened', 'NonceAssigned']);
    assert.deepEqual(await assignments(world), ['7 payout first 1']);
    const [signed] = payout ? liveAttempts(payout) : [];
    assert.equal(signed?.nonce, '7');
    assert.equal(signed?.amount, '10000000');
    assert.equal(world.around.signatures, 1);
  });

  it('prepares a transaction once, and signs it under its later nonce', async () => {
    const world = await signingWorld();
    const before = world.around.feeLevel;
    await accepted(world.sign());
    const { payout } = await world.load();
    const [signed] = payout ? liveAttempts(payout) : [];
    assert.deepEqual([signed?.nonce, signed?.fee], ['7', feeCaps(before + 20)]);
    assert.equal(world.around.feeLevel, before + 20);
  });

  it('bumps the fee of a live attempt under its nonce, and takes no other', async () => {
    const world = await signingWorld();
    await accepted(world.sign());
    await accepted(world.sign());
    assert.deepEqual(await attemptsOf(world), ['1 7 live', '2 7 live']);
    assert.deepEqual(await assignments(world), ['7 payout first 1']);
  });

  it('signs nothing in addition to a live attempt on a chain without nonces, and again after its proven death', async () => {
    const world = await signingWorld();
    world.around.minedNonce = null;
    await accepted(world.sign());
    await assert.rejects(async () => world.sign(), /of two others both might land/);
    await world.record(first, [died(1, { reason: 'validityPassed', detail: 'height 9 is final' })]);
    await accepted(world.sign());
    assert.deepEqual(await attemptsOf(world), ['1 null lapsed', '2 null live']);
    assert.deepEqual(await world.typesIn(treasuryStream), ['TreasuryOpened']);
    assert.equal(world.around.signatures, 2);
  });

  it('names every transaction that the chain has seen differently, if the payment states that its reference is secret', async () => {
    const world = await signingWorld();
    world.around.minedNonce = null;
    await world.record(
      'secret',
      ordered.map((event) =>
        event.type === 'PaymentCreated'
          ? { ...event, data: { ...event.data, paymentId: 'secret', payoutReference: 'secret' as const } }
          : event,
      ),
    );
    const lapsed = { reason: 'validityPassed', detail: 'height 9 is final' } as const;
    const ordinals = async (paymentId: string) => {
      await accepted(world.sign({ paymentId }));
      await world.record(paymentId, [died(1, lapsed)]);
      await accepted(world.sign({ paymentId }));
      await world.record(paymentId, [died(2, reverted)]);
      await accepted(world.sign({ paymentId }));
      return world.around.orders.splice(0).map(({ reference, referenceOrdinal }) => [reference, referenceOrdinal]);
    };
    assert.deepEqual(
      await ordinals('secret'),
      [1, 1, 2].map((ordinal) => ['secret', ordinal]),
    );
    assert.deepEqual(
      await ordinals(first),
      [1, 2, 3].map(() => [first, undefined]),
      'created before there were secret ones',
    );
  });

  it('takes another nonce after a proven death, by another purpose', async () => {
    const world = await signingWorld();
    await accepted(world.sign());
    await accepted(world.sign());
    await world.record(first, [died(1), died(2)]);
    world.around.minedNonce = 8n;
    await accepted(world.sign());
    assert.deepEqual(await attemptsOf(world), ['1 7 dead', '2 7 dead', '3 8 live']);
    assert.deepEqual(await assignments(world), ['7 payout first 1', '8 payout first 2']);
  });

  describe('after an attempt that lapsed, its nonce unused', () => {
    const lapsed = async (payments = [first]) => {
      const world = await signingWorld({ payments });
      await accepted(world.sign());
      await world.record(first, [died(1, { reason: 'validityPassed', detail: 'ledger 9 closed later' })]);
      return world;
    };

    it('takes the same nonce, so that later ones can land', async () => {
      const world = await lapsed();
      await accepted(world.sign());
      assert.deepEqual(await attemptsOf(world), ['1 7 lapsed', '2 7 live']);
      assert.deepEqual(await assignments(world), ['7 payout first 1']);
    });

    it('cancels the nonce when the payout cannot be made any more, and takes another once it can', async () => {
      const world = await lapsed();
      world.around.blocked = blockedByFloat;
      for (const _ of [1, 2]) await assert.rejects(world.sign(), blockedByFloat);
      assert.deepEqual(world.around.cancelled, [7n]);
      assert.deepEqual(await world.typesIn(treasuryStream), ['TreasuryOpened', 'NonceAssigned', 'NonceCancelled']);
      world.around.blocked = null;
      world.around.minedNonce = 8n;
      await accepted(world.sign());
      assert.deepEqual(await attemptsOf(world), ['1 7 lapsed', '2 8 live']);
    });

    it('keeps the nonce while the account has no coin, for a cancel could not be sent either', async () => {
      const world = await lapsed();
      world.around.blocked = new PayoutBlocked('gas', 'send it lumens');
      await assert.rejects(world.sign(), PayoutBlocked);
      assert.deepEqual(world.around.cancelled, []);
    });

    it('sends a cancel that a crash left recorded and unsent', async () => {
      const world = await lapsed([first, 'second']);
      world.around.blocked = blockedByFloat;
      const crash = crashAt('NonceCancelled.afterAppend');
      await assert.rejects(world.sign({ handle: world.start({ crash }) }), Crashed);
      assert.deepEqual(world.around.cancelled, []);
      await world.tend();
      assert.deepEqual(world.around.cancelled, [7n]);
      world.around.blocked = null;
      await accepted(world.sign({ paymentId: 'second' }));
      assert.deepEqual(await attemptsOf(world, 'second'), ['1 8 live']);
    });
  });

  describe('interrupted at any point', () => {
    /** Crash points that signing passes, in order. */
    const pointsPassed = async () => {
      const points: string[] = [];
      const world = await signingWorld();
      await accepted(world.sign({ handle: world.start({ crash: noting(points) }), crash: noting(points) }));
      return points;
    };

    it('passes a point before and after each append and signature', async () => {
      assert.deepEqual(await pointsPassed(), [
        'TreasuryOpened+NonceAssigned.beforeAppend',
        'TreasuryOpened+NonceAssigned.afterAppend',
        'payout.beforeSign',
        'payout.afterSign',
        'PayoutSigned.beforeAppend',
        'PayoutSigned.afterAppend',
      ]);
    });

    it('is finished by the next run with one nonce and one signed attempt', async () => {
      for (const point of await pointsPassed()) {
        const world = await signingWorld();
        const crash = crashAt(point);
        await assert.rejects(world.sign({ handle: world.start({ crash }), crash }), Crashed, point);
        const after = await world.load();
        if (after.payout && liveAttempts(after.payout).length === 0) await accepted(world.sign());
        assert.deepEqual(await assignments(world), ['7 payout first 1'], point);
        assert.deepEqual(await attemptsOf(world), ['1 7 live'], point);
        assert.ok(world.around.signatures <= 2, point);
      }
    });

    it('gives its nonce to nobody else', async () => {
      const world = await signingWorld({ payments: [first, 'second'] });
      await assert.rejects(world.sign({ crash: crashAt('payout.beforeSign') }), Crashed);
      await accepted(world.sign({ paymentId: 'second' }));
      await accepted(world.sign());
      assert.deepEqual(await assignments(world), ['7 payout first 1', '8 payout second 1']);
      assert.deepEqual([await attemptsOf(world), await attemptsOf(world, 'second')], [['1 7 live'], ['1 8 live']]);
    });
  });

  describe('by two workers at once', () => {
    it('ends in one signed attempt and one nonce, in any order of steps', async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (order) => {
          let scheduled = false;
          const at = (name: string) => (scheduled ? order.schedule(Promise.resolve(), name).then(() => {}) : undefined);
          const world = await signingWorld({ store: memoryEventStore({ at }) });
          const known = await world.outgoing();
          scheduled = true;
          const both = Promise.all([world.sign({ known }), world.sign({ known })]);
          await order.waitIdle();
          const outcomes = await both;
          scheduled = false;
          const refused = outcomes.filter(isRefusal).map((refusal) => refusal.refused);
          const appended = outcomes.flatMap((outcome) => (isRefusal(outcome) ? [] : [outcome.appended]));
          assert.deepEqual([refused, appended], [['illegalStep'], [1]]);
          assert.deepEqual(await attemptsOf(world), ['1 7 live']);
          assert.deepEqual(await assignments(world), ['7 payout first 1']);
        }),
        { numRuns: 100 },
      );
    });

    it('for two payments gives each its own nonce', async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (order) => {
          let scheduled = false;
          const at = (name: string) => (scheduled ? order.schedule(Promise.resolve(), name).then(() => {}) : undefined);
          const world = await signingWorld({ store: memoryEventStore({ at }), payments: [first, 'second'] });
          scheduled = true;
          const both = Promise.all([accepted(world.sign()), accepted(world.sign({ paymentId: 'second' }))]);
          await order.waitIdle();
          await both;
          scheduled = false;
          const nonces = (await assignments(world)).map((text) => text.split(' ')[0]);
          assert.deepEqual(nonces, ['7', '8']);
          assert.equal(verifyChain(await world.store.read(treasuryStream)), null);
        }),
        { numRuns: 50 },
      );
    });
  });

  it('changes nothing for a worker that knows an older payment', async () => {
    const world = await signingWorld();
    const known = await world.outgoing();
    await accepted(world.sign());
    await world.record(first, [died(1)]);
    const refusal = await world.sign({ known });
    assert.equal(isRefusal(refusal) && refusal.refused, 'illegalStep');
    assert.deepEqual(await attemptsOf(world), ['1 7 dead']);
    assert.deepEqual(await assignments(world), ['7 payout first 1']);
  });

  it('changes nothing about a payment that was bounced meanwhile', async () => {
    const world = await signingWorld();
    const known = await world.outgoing();
    await world.record(first, [bounced('payoutImpossible', '10.01')]);
    const refusal = await world.sign({ known });
    assert.equal(isRefusal(refusal) && refusal.refused, 'illegalStep');
    assert.deepEqual(await attemptsOf(world), []);
  });
});
