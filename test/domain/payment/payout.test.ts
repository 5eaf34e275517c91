import assert from 'node:assert/strict';
import { payoutLeg, requestPayout } from '../../../domain/payment/payout.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  attempt,
  bnbUsdc,
  bounced,
  confirmed,
  created,
  detected,
  died,
  done,
  expired,
  feeCaps,
  final,
  funded,
  hashOf,
  landed,
  lost,
  minute,
  nonceUsed,
  ordered,
  orphaned,
  paid,
  payin,
  paymentAfter,
  payoutRequested,
  polygonUsdc,
  reverted,
  sent,
  settled,
  signed,
  unpaid,
  unsettled,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

type State = Parameters<typeof requestPayout>[0];
const ordering = (state: State) => requestPayout(state, minute(7));
const signing =
  (signedAttempt = attempt()) =>
  (state: State) =>
    payoutLeg.sign(state, 1, signedAttempt);
const burying =
  (attempts = [1], proof = nonceUsed) =>
  (state: State) =>
    payoutLeg.bury(state, 1, attempts, proof);
const settling =
  (signedAttempt = attempt(), block = 200) =>
  (state: State) =>
    payoutLeg.conclude(state, 1, final(landed(signedAttempt, block)), minute(9));
const leaving =
  (block: number | string = 200, hash = attempt().hash) =>
  (state: State) =>
    payoutLeg.orphan(state, 1, { hash, blockHash: hashOf('block', block) });

const bump = attempt(2, { fee: feeCaps(113) });
const bumped = [...sent, signed(bump)];

describe('a payout', () => {
  describe('is ordered', () => {
    it('once the payment is funded, for the destination’s share, to the terms’ receiver', () => {
      given(paid).when(ordering).then([payoutRequested()]);
      const sketch = { type: 'exactIn', amount: '10.00', from: bnbUsdc, to: polygonUsdc } as const;
      const transfer = payin({ amount: '10.00', in: bnbUsdc });
      const amounts = { received: '10', sourceAmount: '10', payout: '9.99', source: bnbUsdc, destination: polygonUsdc };
      given([created(sketch), confirmed(transfer), funded([transfer], amounts)])
        .when(ordering)
        .then([payoutRequested('9.99', polygonUsdc)]);
    });

    it('once only', () => {
      for (const history of [ordered, sent, done]) given(history).when(ordering).thenNothing();
    });

    it('never before, nor after the payment was closed', () => {
      for (const history of [[], unpaid, [...unpaid, expired()], [...paid, bounced('payoutImpossible', '10.01')]]) {
        given(history).when(ordering).thenRefused('illegalStep');
      }
    });
  });

  describe('is signed', () => {
    it('when it is ordered', () => {
      given(ordered).when(signing()).then([signed()]);
      given(paid).when(signing()).thenRefused('illegalStep');
      given([]).when(signing()).thenRefused('illegalStep');
    });

    it('never after the payment bounced', () => {
      given([...ordered, bounced('payoutImpossible', '10.01')])
        .when(signing())
        .thenRefused('illegalStep');
    });

    it('never while the money that funded it is not on its chain, until it is final there again', () => {
      const back = payin({ block: 101 });
      given([...ordered, orphaned(), lost()])
        .when(signing())
        .thenRefused('illegalStep', /left its chain/);
      given([...ordered, orphaned(), lost(), detected(back)])
        .when(signing())
        .thenRefused('illegalStep', /left its chain/);
      given([...ordered, orphaned(), lost(), detected(back), confirmed(back)])
        .when(signing())
        .then([signed()]);
    });

    it('with a fee bump although that money has left: an attempt that can already land is paid in any case', () => {
      given([...sent, orphaned(), lost()])
        .when(signing(bump))
        .then([signed(bump)]);
    });

    it('again with a fee bump, and under another nonce only after all of the first are dead', () => {
      given(sent)
        .when(signing(bump))
        .then([signed(bump)]);
      given(bumped)
        .when(signing(attempt(3, { nonce: '8' })))
        .thenRefused('illegalStep', /can still land/);
      given([...bumped, died(1)])
        .when(signing(attempt(3, { nonce: '8' })))
        .thenRefused('illegalStep', /can still land/);
      const next = attempt(3, { nonce: '8' });
      given([...bumped, died(1), died(2)])
        .when(signing(next))
        .then([signed(next)]);
    });
  });

  describe('dies', () => {
    it('with proof, all attempts of the nonce at once', () => {
      given(sent)
        .when(burying([1], reverted))
        .then([died(1, reverted)]);
      given(bumped)
        .when(burying([1, 2]))
        .then([died(1), died(2)]);
      given([...bumped, died(1)])
        .when(burying([1, 2]))
        .then([died(2)]);
    });

    it('once, and only for signed attempts', () => {
      given([...sent, died()])
        .when(burying())
        .thenNothing();
      given(sent)
        .when(burying([2]))
        .thenRefused('illegalStep', /never signed/);
      given(paid).when(burying()).thenRefused('illegalStep');
    });

    it('never after it settled: an operator must check', () => {
      given(done)
        .when(burying())
        .thenRefused('illegalStep', /operator/);
    });

    it('as a whole or not at all', () => {
      given(sent)
        .when(burying([1, 9]))
        .thenRefused('illegalStep');
    });
  });

  describe('settles', () => {
    it('with any live attempt, once', () => {
      given(sent).when(settling()).then([settled()]);
      given(bumped)
        .when(settling(bump))
        .then([settled(bump)]);
      given(bumped).when(settling(attempt())).then([settled()]);
      given(done).when(settling()).thenNothing();
    });

    it('never twice: another attempt that claims to have landed needs an operator', () => {
      given([...bumped, settled(bump)])
        .when(settling(attempt()))
        .thenRefused('illegalStep', /already settled/);
    });

    it('never with dead or unknown attempts', () => {
      given([...sent, died()])
        .when(settling())
        .thenRefused('illegalStep', /operator/);
      given(sent).when(settling(bump)).thenRefused('illegalStep');
      given(sent)
        .when((state) =>
          payoutLeg.conclude(state, 1, { ...final(landed(attempt())), hash: hashOf('another') }, minute(9)),
        )
        .thenRefused('illegalStep', /another hash/);
      given(paid).when(settling()).thenRefused('illegalStep');
    });
  });

  describe('leaves the chain', () => {
    it('and is live again', () => {
      given(done).when(leaving()).then([unsettled()]);
      const again = paymentAfter([...done, unsettled()]);
      assert.equal(again.payout?.settled, null);
      assert.equal(again.payout?.attempts[0]?.fate, 'live');
    });

    it('once, and only from the block that held it', () => {
      given([...done, unsettled()])
        .when(leaving())
        .thenNothing();
      given(done).when(leaving('200b')).thenNothing();
      given(done)
        .when(leaving(200, hashOf('another')))
        .thenNothing();
      for (const history of [[], paid, sent]) given(history).when(leaving()).thenNothing();
    });

    it('and only that is recorded, though callers pass more', () => {
      given(done)
        .when((state) => payoutLeg.orphan(state, 1, landed(attempt())))
        .then([unsettled()]);
    });

    it('and settles again in another block', () => {
      given([...done, unsettled()])
        .when(settling(attempt(), 201))
        .then([settled(attempt(), 201)]);
    });

    it('and may be replaced once it is provably dead', () => {
      const next = attempt(2, { nonce: '8' });
      given([...done, unsettled()])
        .when(signing(next))
        .thenRefused('illegalStep');
      given([...done, unsettled(), died(1, reverted)])
        .when(signing(next))
        .then([signed(next)]);
    });
  });
});
