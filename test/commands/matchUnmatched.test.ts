import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { claimUnmatched, finishMatch, matchUnmatched, refundUnmatched } from '../../commands/matchUnmatched.ts';
import { recordPayin, recordUnmatched } from '../../commands/recordPayin.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { payinsMax } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { unmatchedRefundOwner } from '../../src/workers/payouts/owners.ts';
import { badChecksum, muxedReceiver, payer, stellarReceiver, stellarTreasury } from '../support/contractPayments.ts';
import { created, detected, expired, minute, payin, stellarUsdc, terms, unpaid } from '../support/payments.ts';
import { sendingBack } from '../support/payoutCosts.ts';
import { accepted, Crashed, crashAt, processes } from '../support/processes.ts';

const { paymentId } = terms();
const transfer: Transfer = {
  ...payin({ amount: '10.01', in: stellarUsdc }),
  from: payer,
  to: stellarTreasury,
  memo: null,
};
const id = transferId(transfer);
const stream = `unmatched-${id}`;
const fromStellar = [created({ from: stellarUsdc })];

/** A payment with this history, and money without its memo. */
async function world(history = fromStellar) {
  const { start, clock, store, typesIn } = processes({ now: minute(6) });
  const deps = { handle: start(), clock };
  await accepted(deps.handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId: null }));
  await recordUnmatched(deps, transfer);
  const paidWith = async () =>
    (await currentState(start(), paymentDecider, paymentId))?.payins.map(({ id: payinId, standing }) => [
      payinId,
      standing,
    ]);
  return { deps, start, clock, store, typesIn, paidWith };
}
const refusalOf = (answer: unknown) => (isRefusal(answer) ? answer.refused : answer);

describe('unmatched money', () => {
  it('is recorded once and reported once, also by two scanners', async () => {
    const { deps, start, clock, typesIn } = await world();
    assert.equal(await recordUnmatched(deps, transfer), false);
    assert.equal(await recordUnmatched({ handle: start(), clock }, transfer), false);
    assert.equal(await recordUnmatched(deps, { ...transfer, index: 1 }), true);
    assert.deepEqual(await typesIn(stream), ['UnmatchedPayinSeen']);
  });

  it('funds the payment that it is assigned to', async () => {
    const { deps, typesIn, paidWith } = await world();
    await accepted(matchUnmatched(deps, id, paymentId, { cause: 'operator:test' }));
    assert.deepEqual(await paidWith(), [[id, 'counted']]);
    assert.deepEqual((await typesIn(`payment-${paymentId}`)).slice(1), [
      'PayinDetected',
      'PayinConfirmed',
      'PaymentFunded',
    ]);
    const view = viewOf((await currentState(deps.handle, paymentDecider, paymentId)) ?? assert.fail(), minute(6));
    assert.deepEqual([view.status, view.senderAddress], ['payment_payin_completed', payer]);
  });

  describe('is claimed by the payment whose deposit it paid before the payment existed', () => {
    const deposit = { ...terms().deposit, address: stellarTreasury, memo: '7' };
    const own: Transfer = { ...transfer, memo: '7', txHash: 'ab'.repeat(32) };
    const ownId = transferId(own);
    const paid = { chainId: chainOf(1500).id, deposit, txHash: own.txHash };
    const by = { cause: 'payer' } as const;
    const claiming = async (moved: readonly Transfer[] = [own]) => {
      const made = await world();
      const ingester = { sharedAddresses: [stellarTreasury], lookUp: async () => moved };
      const ingesters = new Map([[paid.chainId, ingester]]);
      const { signal } = new AbortController();
      const claim = (at = '') =>
        claimUnmatched({ ...made.deps, crash: crashAt(at), ingesters, signal }, paymentId, paid, by);
      return { ...made, claim };
    };

    it('and funds it once, however often the claim is repeated', async () => {
      const { deps, claim, paidWith, store } = await claiming();
      await recordUnmatched(deps, own);
      assert.equal(await claim(), undefined);
      assert.deepEqual(await paidWith(), [[ownId, 'counted']]);
      const tail = await store.tail();
      assert.deepEqual(await Promise.all([claim(), claim()]), [undefined, undefined]);
      assert.equal(await store.tail(), tail);
    });

    it('but money with another memo, and money that no scan has recorded, is not', async () => {
      const { deps, claim, paidWith, typesIn } = await claiming([own, { ...transfer, txHash: own.txHash, index: 1 }]);
      await recordUnmatched(deps, { ...transfer, txHash: own.txHash, index: 1 });
      assert.equal(await claim(), undefined);
      assert.deepEqual([await paidWith(), await typesIn(`unmatched-${ownId}`)], [[], []]);
    });

    it('and a refund that an operator ordered before remains', async () => {
      const { deps, claim, paidWith } = await claiming();
      await recordUnmatched(deps, own);
      const order = { reason: 'nobody claimed it' };
      await accepted(refundUnmatched({ ...deps, ...sendingBack }, ownId, order, { cause: 'operator:test' }));
      for (const _ of [1, 2]) assert.equal(refusalOf(await claim()), 'illegalStep');
      assert.deepEqual(await paidWith(), []);
    });

    it('after a crash between the decision and the payin the next claim records the payin', async () => {
      const { deps, claim, paidWith } = await claiming();
      await recordUnmatched(deps, own);
      await assert.rejects(claim('unmatched.afterAssigned'), Crashed);
      assert.deepEqual(await paidWith(), []);
      assert.equal(await claim(), undefined);
      assert.deepEqual(await paidWith(), [[ownId, 'counted']]);
    });
  });

  it('is held by a payment if it is too late for it, or if that expected other money', async () => {
    const late = await world([...fromStellar, expired()]);
    await accepted(matchUnmatched(late.deps, id, paymentId, { cause: 'operator:test' }));
    assert.deepEqual(await late.paidWith(), [[id, 'late']]);
    const other = await world([...unpaid]);
    await accepted(matchUnmatched(other.deps, id, paymentId, { cause: 'operator:test' }));
    assert.deepEqual(await other.paidWith(), [[id, 'wrongChain']]);
  });

  it('is assigned again to the same payment without any change, and to no other', async () => {
    const { deps, start, store } = await world();
    const otherId = '0198f3c2-0000-8000-8000-000000000002';
    await accepted(deps.handle(paymentDecider, otherId, () => unpaid, { cause: 'worker:test', appId: null }));
    await accepted(matchUnmatched(deps, id, paymentId, { cause: 'operator:test' }));
    const tail = await store.tail();
    await accepted(matchUnmatched({ ...deps, handle: start() }, id, paymentId, { cause: 'operator:test' }));
    assert.equal(refusalOf(await matchUnmatched(deps, id, otherId, { cause: 'operator:test' })), 'illegalStep');
    assert.equal(
      refusalOf(await refundUnmatched({ ...deps, ...sendingBack }, id, { reason: 'x' }, { cause: 'operator:test' })),
      'illegalStep',
    );
    assert.equal(await store.tail(), tail);
  });

  it('is assigned to no payment that does not exist', async () => {
    const { deps, typesIn } = await world();
    assert.equal(refusalOf(await matchUnmatched(deps, id, 'nobody', { cause: 'operator:test' })), 'paymentNotFound');
    assert.equal(
      refusalOf(await matchUnmatched(deps, '1500:none:0', paymentId, { cause: 'operator:test' })),
      'illegalStep',
    );
    assert.deepEqual(await typesIn(stream), ['UnmatchedPayinSeen']);
  });

  for (const point of ['unmatched.afterAssigned', 'PayinDetected+PayinConfirmed+PaymentFunded.beforeAppend']) {
    it(`reaches its payment once when the process dies at ${point}`, async () => {
      const { deps, start, clock, paidWith } = await world();
      const crash = crashAt(point);
      const dying = { handle: start({ crash }), clock, crash };
      await assert.rejects(matchUnmatched(dying, id, paymentId, { cause: 'operator:test' }), Crashed);
      assert.deepEqual(await paidWith(), []);
      assert.equal(await finishMatch({ handle: start(), clock }, id), undefined);
      await accepted(matchUnmatched(deps, id, paymentId, { cause: 'operator:test' }));
      assert.deepEqual(await paidWith(), [[id, 'counted']]);
    });
  }

  for (const after of ['the process died', 'the match was decided']) {
    it(`reaches its payment once when that fills up after ${after}`, async () => {
      const { deps, start, clock, typesIn } = await world();
      const fillUp = async () => {
        for (let n = 0; n < payinsMax; n += 1) {
          const amount = n < payinsMax / 2 ? '0.02' : '1.00';
          const part = { ...payin({ tx: `part-${n}`, amount, in: stellarUsdc }), to: stellarTreasury, memo: 'm' };
          await accepted(recordPayin(deps, { paymentId, appId: terms().appId }, { transfer: part, final: false }));
        }
        if (after === 'the process died') throw new Crashed('unmatched.afterAssigned');
      };
      const matching = matchUnmatched({ ...deps, crash: fillUp }, id, paymentId, { cause: 'operator:test' });
      if (after === 'the process died') {
        await assert.rejects(matching, Crashed);
        assert.equal(await finishMatch({ handle: start(), clock }, id), undefined);
      } else await accepted(matching);
      assert.equal(await finishMatch({ handle: start(), clock }, id), undefined);
      const payment = (await currentState(start(), paymentDecider, paymentId)) ?? assert.fail();
      assert.equal(payment.payins.filter((each) => each.id === id && each.phase === 'confirmed').length, 1);
      assert.deepEqual([payment.payins.length, payment.funded?.received], [payinsMax + 1, 100_100_000n]);
      assert.deepEqual(await typesIn(stream), ['UnmatchedPayinSeen', 'UnmatchedPayinAssigned']);
    });
  }

  it('is not assigned to a payment that is full already, and can be refunded', async () => {
    const { deps, typesIn } = await world();
    const parts = Array.from({ length: payinsMax }, (_, n) =>
      detected({ ...payin({ tx: `part-${n}`, amount: '1.00', in: stellarUsdc }), to: stellarTreasury, memo: 'm' }),
    );
    await accepted(deps.handle(paymentDecider, paymentId, () => parts, { cause: 'worker:test', appId: null }));
    assert.equal(
      refusalOf(await matchUnmatched(deps, id, paymentId, { cause: 'operator:test' })),
      'paymentNotUpdatable',
    );
    await accepted(
      refundUnmatched({ ...deps, ...sendingBack }, id, { reason: 'no order' }, { cause: 'operator:test' }),
    );
    assert.deepEqual(await typesIn(stream), ['UnmatchedPayinSeen', 'UnmatchedPayinRefundRequested']);
  });

  it('is refunded, to its sender or to the operator’s receiver', async () => {
    const ordered = async (to: { to?: string; memo?: string }) => {
      const { deps, store } = await world();
      await accepted(
        refundUnmatched({ ...deps, ...sendingBack }, id, { ...to, reason: 'no order' }, { cause: 'operator:test' }),
      );
      return (await store.read(stream)).at(-1)?.data;
    };
    const usual = {
      receiverAddress: payer,
      receiverMemo: null,
      reason: 'no order',
      networkFee: '500000',
      requestedAt: minute(6),
    };
    assert.deepEqual(await ordered({}), usual);
    assert.deepEqual(await ordered({ to: stellarReceiver, memo: '7' }), {
      ...usual,
      receiverAddress: stellarReceiver,
      receiverMemo: '7',
    });
  });

  it('is refunded without opening an account for its receiver, if the fee has paid for none', async () => {
    const { deps, start, clock } = await world();
    const payoutCostOf = async () => ({ cost_microUsd: 50_000n, least_microUsd: 0n, opensAccount: false });
    await accepted(
      refundUnmatched(
        { ...deps, ...sendingBack, payoutCostOf },
        id,
        { reason: 'no order' },
        { cause: 'operator:test' },
      ),
    );
    const owner = unmatchedRefundOwner({
      handle: start(),
      clock,
      proveMoney: async () => assert.fail('it is not asked'),
    });
    const owed = await owner.load({ kind: 'unmatchedRefund', id, part: 1 });
    assert.equal(owed?.order.opensAccount, false);
  });

  it('is not refunded to an invalid address, nor with a memo that the address cannot carry', async () => {
    const { deps, typesIn } = await world();
    const withBook = { ...deps, ...sendingBack };
    for (const to of [{ to: badChecksum }, { to: muxedReceiver, memo: '7' }, { memo: 'x'.repeat(29) }]) {
      assert.equal(
        refusalOf(await refundUnmatched(withBook, id, { ...to, reason: 'x' }, { cause: 'operator:test' })),
        'invalidRequest',
      );
    }
    assert.equal(
      refusalOf(await refundUnmatched(withBook, '1500:none:0', { reason: 'x' }, { cause: 'operator:test' })),
      'illegalStep',
    );
    assert.deepEqual(await typesIn(stream), ['UnmatchedPayinSeen']);
  });
});
