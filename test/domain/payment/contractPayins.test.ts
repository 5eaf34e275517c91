import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ChainId, chainOf, findToken } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { rescale } from '../../../domain/money.ts';
import { expire } from '../../../domain/payment/close.ts';
import { createPayment } from '../../../domain/payment/create.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { contractRoutes } from '../../../domain/payment/intent.ts';
import { payinsMax, paysInto, recordPayin } from '../../../domain/payment/payins.ts';
import { evolve, type Payment, type PaymentState, paymentDecider, refundable } from '../../../domain/payment/state.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import {
  contractCreated,
  contractDeposit,
  contractTerms,
  otherPayer,
  paid,
  payer,
  sent,
} from '../../support/contractPayments.ts';
import {
  type Asset,
  bnbUsdc,
  bounced,
  confirmed,
  detected,
  digits,
  expired,
  expires_at,
  funded,
  minute,
  of,
  paymentAfter,
  polygonUsdc,
  stellarUsdc,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
const seen = (transfer: Transfer) => (state: PaymentState) =>
  recordPayin(state, { transfer, final: true, now: minute(6) });

describe('a payment into the Stellar contract', () => {
  it('expires exactly one hour after its creation, by the chain’s clock', () => {
    const { createdAt, expiresAt, intent } = paymentAfter([contractCreated()]).terms;
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 3_600_000);
    assert.equal(intent, 'stellar_payin_contracts');
    const [onTime, late] = [paid('1.00', { at: expires_at }), paid('1.00', { at: minute(60.001) })];
    assert.equal(paymentAfter([contractCreated(), confirmed(onTime)]).payins[0]?.standing, 'counted');
    assert.equal(paymentAfter([contractCreated(), confirmed(late)]).payins[0]?.standing, 'late');
  });

  describe('for any amount', () => {
    const any = contractCreated({ to: polygonUsdc });
    const paidOut = (transfers: readonly Transfer[], amount: string, payout: string, dust = '0') =>
      funded(transfers, {
        rule: 'anyAmount',
        received: amount,
        sourceAmount: amount,
        payout,
        dust,
        source: stellarUsdc,
        destination: polygonUsdc,
      });

    it('accepts a call of exactly 0.02 and of exactly 10,000', () => {
      for (const [amount, payout] of [
        ['0.02', '0.01'],
        ['10000', '9999.99'],
      ] as const) {
        const call = paid(amount);
        given([any])
          .when(seen(call))
          .then([detected(call), confirmed(call), paidOut([call], amount, payout)]);
      }
    });

    it('bounces a call one stroop outside of it, all of it refundable', () => {
      for (const [amount, code] of [
        ['0.0199999', 'amountTooLow'],
        ['10000.0000001', 'amountTooHigh'],
      ] as const) {
        const call = paid(amount);
        const outcome = [detected(call), confirmed(call), bounced(code, amount, minute(6), stellarUsdc)];
        given([any]).when(seen(call)).then(outcome);
        const payment = paymentAfter([any, ...outcome]);
        assert.deepEqual(
          refundable(payment).map(({ reason, amount: owed }) => [reason, owed]),
          [['bounced', of(amount, stellarUsdc)]],
        );
        const { status, errorCode, amountReceived } = viewOf(payment, minute(7));
        assert.deepEqual([status, errorCode, amountReceived], ['payment_bounced', code, amount]);
      }
    });

    it('holds a plain transfer to the treasury to the same limits as a call', () => {
      const taken = sent('0.02');
      given([any])
        .when(seen(taken))
        .then([detected(taken), confirmed(taken), paidOut([taken], '0.02', '0.01')]);
      for (const [amount, code] of [
        ['0.0199999', 'amountTooLow'],
        ['10000.0000001', 'amountTooHigh'],
      ] as const) {
        const transfer = sent(amount);
        given([any])
          .when(seen(transfer))
          .then([detected(transfer), confirmed(transfer), bounced(code, amount, minute(6), stellarUsdc)]);
      }
    });

    it('is funded by its sender alone: a stranger’s money is held, refundable, and changes nothing else', () => {
      for (const by of [paid, sent]) {
        for (const amount of ['0.0199999', '0.02', '500', '10000.0000001']) {
          const stranger = by(amount, { from: otherPayer, tx: 'stranger' });
          given([any])
            .when(seen(stranger))
            .then([detected(stranger), confirmed(stranger)]);
          const call = paid('500');
          const outcome = [detected(call), confirmed(call), paidOut([call], '500', '499.99')];
          given([any, detected(stranger), confirmed(stranger)])
            .when(seen(call))
            .then(outcome);
          const payment = paymentAfter([any, detected(stranger), confirmed(stranger), ...outcome]);
          assert.equal(payment.payins[0]?.standing, 'otherSender');
          assert.deepEqual(
            refundable(payment).map((owed) => [owed.reason, owed.amount]),
            [['held', of(amount, stellarUsdc)]],
          );
        }
      }
    });

    it('has room for its sender’s money, whatever strangers send before', () => {
      const flood = Array.from({ length: payinsMax / 2 }, (_, index) =>
        sent('0.02', { from: otherPayer, tx: 'flood', index }),
      );
      const flooded = [any, ...flood.map(detected)];
      given(flooded)
        .when(seen(sent('500', { from: otherPayer })))
        .thenNothing();
      const own = paid('500');
      given(flooded)
        .when(seen(own))
        .then([detected(own), confirmed(own), paidOut([own], '500', '499.99')]);
    });

    it('bounces when it expires with nothing but a stranger’s money', () => {
      const stranger = sent('500', { from: otherPayer });
      const outcome = given([any, detected(stranger), confirmed(stranger)]).when((state) =>
        expire(state, { scannedTo: () => minute(61), now: minute(62) }),
      );
      outcome.then([expired(minute(61), minute(62)), bounced('otherSender', '500', minute(62), stellarUsdc)]);
    });

    it('remains funded if a stranger funded it before this rule', () => {
      const stranger = paid('500', { from: otherPayer });
      const history = [any, detected(stranger), confirmed(stranger), paidOut([stranger], '500', '499.99')];
      assert.deepEqual([paymentAfter(history).payins[0]?.standing, refundable(paymentAfter(history))], ['counted', []]);
    });

    it('keeps the rest as dust that the destination cannot represent', () => {
      const call = paid('1.0000009');
      given([any])
        .when(seen(call))
        .then([detected(call), confirmed(call), paidOut([call], '1.0000009', '0.99', '0.0000009')]);
    });
  });

  it('receives a call or a plain transfer with its memo, and nothing else', () => {
    for (const transfer of [paid('1.00'), sent('1.00')]) {
      assert.ok(paysInto({ stellar: contractDeposit }, transfer));
      assert.ok(!paysInto({ stellar: contractDeposit }, { ...transfer, memo: 'another' }));
      assert.ok(!paysInto({ stellar: contractDeposit }, { ...transfer, memo: null }));
    }
    const asBefore = { ...contractDeposit, memo: null };
    assert.deepEqual(
      [paysInto({ stellar: asBefore }, paid('1.00')), paysInto({ stellar: asBefore }, sent('1.00'))],
      [true, false],
    );
  });

  it('shows its sender, whatever other payer pays or is named by a hint', () => {
    const call = paid('1.00', { from: otherPayer });
    const hint = { txHash: call.txHash, senderAddress: otherPayer, registeredAt: minute(1) };
    const history = [contractCreated(), { type: 'PayinRegistered', data: hint } as const, detected(call)];
    for (const events of [history.slice(0, 1), history.slice(0, 2), history]) {
      const { senderAddress, amountReceived } = viewOf(paymentAfter(events), minute(5));
      assert.deepEqual([senderAddress, amountReceived], [payer, null]);
    }
  });

  it('without the contract counts every payer, whatever sender was announced: exchanges pay from their own', () => {
    const plain = { ...contractTerms(), intent: null };
    const created = createPayment(null, plain) as readonly PaymentEvent[];
    const transfer = sent('1.00', { from: otherPayer });
    assert.equal(paymentAfter([...created, detected(transfer)]).payins[0]?.standing, 'counted');
  });

  it('with an agreed amount may be paid in several calls', () => {
    const exact = contractCreated({ type: 'exactIn', amount: '1.0000001', to: bnbUsdc });
    const [one, two] = [paid('1.0000000'), paid('0.0000001', { tx: 'second' })];
    given([exact])
      .when(seen(one))
      .then([detected(one), confirmed(one)]);
    given([exact, detected(one), confirmed(one)])
      .when(seen(two))
      .then([
        detected(two),
        confirmed(two),
        funded([one, two], {
          received: '1.0000001',
          sourceAmount: '1.0000001',
          fee: '0.01',
          payout: '0.9900001',
          source: stellarUsdc,
          destination: bnbUsdc,
        }),
      ]);
  });
});

describe('every route out of the Stellar contract', () => {
  const routes: readonly Asset[] = Object.entries(contractRoutes).flatMap(([id, symbols]) => {
    const chain = chainOf(Number(id) as ChainId);
    return symbols.flatMap((symbol) => {
      const token = findToken(chain, symbol);
      return token ? [{ chain, token }] : [];
    });
  });

  it('is one of eight', () => assert.equal(routes.length, 8));

  const whole = 10n ** 7n;
  const stroops = fc.bigInt({ min: whole / 50n, max: 10_000n * whole });
  const life = (type: 'exactIn' | 'exactOut' | 'anyAmount', to: Asset, amount: bigint, basisPoints: number) => {
    const sketch = contractTerms({ type, amount: '1.00', to, fee: { basisPoints } });
    const terms = {
      ...sketch,
      source: { ...sketch.source, amount: type === 'exactIn' ? amount : null },
      destination: {
        ...sketch.destination,
        amount: type === 'exactOut' ? rescale(amount, 7, to.token.decimals) : null,
      },
    };
    const created = createPayment(null, terms);
    if (isRefusal(created)) return undefined;
    const first = created.reduce<PaymentState>(evolve, null) as Payment;
    const called = BigInt(first.terms.source.amount ?? amount);
    const transfer = { ...paid('1.00'), amount: called.toString() };
    const events = seen(transfer)(first) as readonly PaymentEvent[];
    return { called, payment: events.reduce<PaymentState>(evolve, first) as Payment };
  };

  for (const to of routes) {
    it(`${to.chain.name} ${to.token.symbol}: received = payout + fee + dust, to the stroop`, () => {
      const fine = to.token.decimals >= 7;
      fc.assert(
        fc.property(
          fc.constantFrom('exactIn' as const, 'exactOut' as const, 'anyAmount' as const),
          stroops,
          fc.integer({ min: 0, max: 100 }),
          (type, any, basisPoints) => {
            const amount = type === 'anyAmount' || fine ? any : any - (any % 10n);
            const lived = life(type, to, amount, basisPoints);
            assert.ok(lived?.payment.funded, 'funded by what was agreed');
            const { fee, dust, excess, payout, received } = lived.payment.funded;
            assert.equal(received, lived.called);
            assert.equal(rescale(payout, to.token.decimals, 7) + fee + dust, received);
            assert.equal(excess, 0n);
            if (type === 'exactOut') assert.equal(payout, rescale(amount, 7, to.token.decimals));
            assert.ok(type === 'anyAmount' && !fine ? dust < 10n : dust === 0n, 'only what six decimals cannot hold');
          },
        ),
      );
    });
  }

  it('accepts no amount of seven decimals if the destination has six', () => {
    assert.equal(life('exactIn', polygonUsdc, of('1.0000001', stellarUsdc), 0), undefined);
    const exact = life('exactIn', bnbUsdc, of('1.0000001', stellarUsdc), 0);
    assert.equal(exact?.payment.funded?.payout.toString(), digits('0.9900001', bnbUsdc));
  });
});
