import assert from 'node:assert/strict';
import { fund } from '../../../domain/payment/payins.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  type Asset,
  baseUsdc,
  bnbUsdc,
  bounced,
  confirmed,
  created,
  detected,
  ethereumUsdc,
  expired,
  funded,
  minute,
  paid,
  payin,
  paymentAfter,
  polygonUsdc,
  stellarUsdc,
  type TermsSketch,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

const funding = (state: Parameters<typeof paymentDecider.evolve>[0]) => {
  assert.ok(state);
  return fund(state, minute(6));
};

/** A payment with final payins of these amounts in the source token. */
const received = (sketch: TermsSketch, ...amounts: string[]) => {
  const payins = amounts.map((amount, index) => payin({ amount, index, in: sketch.from ?? baseUsdc }));
  return { payins, history: [created(sketch), ...payins.map((transfer) => confirmed(transfer))] };
};

describe('funding', () => {
  it('waits for final money', () => {
    given(unpaid).when(funding).thenNothing();
    given([...unpaid, detected()])
      .when(funding)
      .thenNothing();
  });

  it('waits one unit below the agreed amount, happens at it, and holds one unit above it', () => {
    given(received({}, '10.009999').history).when(funding).thenNothing();
    given(received({}, '10.01').history).when(funding).then([funded()]);
    const { payins, history } = received({}, '10.010001');
    given(history)
      .when(funding)
      .then([funded(payins, { rule: 'overpaid', received: '10.010001', excess: '0.000001' })]);
  });

  it('happens once, and not after the payment was closed', () => {
    given(paid).when(funding).thenNothing();
    given([...unpaid, expired(), confirmed()])
      .when(funding)
      .thenNothing();
    assert.throws(() => funding(null));
  });

  it('pays out the agreed amount, whatever arrived', () => {
    const { history } = received({ type: 'exactIn', amount: '10.00' }, '9.00', '900.00');
    const [event] = funding(paymentAfter(history)) as [ReturnType<typeof funded>];
    assert.deepEqual(
      { ...event.data, transferIds: event.data.transferIds.length },
      {
        ...funded([], { rule: 'overpaid', received: '909', sourceAmount: '10', excess: '899', payout: '9.99' }).data,
        transferIds: 2,
      },
    );
  });

  describe('with any amount', () => {
    const any = (from: Asset, to: Asset, ...amounts: string[]) => received({ type: 'anyAmount', from, to }, ...amounts);
    const fundedWith = (
      { payins }: { payins: readonly ReturnType<typeof payin>[] },
      amount: string,
      payout: string,
      more: { dust?: string; source?: Asset; destination?: Asset } = {},
    ) => funded(payins, { rule: 'anyAmount', received: amount, sourceAmount: amount, payout, ...more });

    it('accepts exactly 0.02 and exactly 10,000', () => {
      const least = any(baseUsdc, ethereumUsdc, '0.02');
      given(least.history)
        .when(funding)
        .then([fundedWith(least, '0.02', '0.01')]);
      const most = any(baseUsdc, ethereumUsdc, '10000');
      given(most.history)
        .when(funding)
        .then([fundedWith(most, '10000', '9999.99')]);
    });

    it('bounces one unit above 10,000', () => {
      given(any(baseUsdc, ethereumUsdc, '10000.000001').history)
        .when(funding)
        .then([bounced('amountTooHigh', '10000.000001', minute(6))]);
    });

    it('waits one unit below 0.02: more may arrive', () => {
      const little = any(baseUsdc, ethereumUsdc, '0.019999');
      given(little.history).when(funding).thenNothing();
      const more = any(baseUsdc, ethereumUsdc, '0.019999', '1.00');
      given(more.history)
        .when(funding)
        .then([fundedWith(more, '1.019999', '1.009999')]);
    });

    it('waits while the fee leaves nothing', () => {
      given(received({ type: 'anyAmount', fee: { fixed: '0.05' } }, '0.05').history)
        .when(funding)
        .thenNothing();
    });

    it('keeps the rest as dust that the destination cannot represent', () => {
      const source = { source: bnbUsdc, destination: polygonUsdc };
      const fine = any(bnbUsdc, polygonUsdc, '1.000000999999999999');
      given(fine.history)
        .when(funding)
        .then([fundedWith(fine, '1.000000999999999999', '0.99', { ...source, dust: '0.000000999999999999' })]);
      const stellar = any(stellarUsdc, polygonUsdc, '1.0000009');
      given(stellar.history)
        .when(funding)
        .then([
          fundedWith(stellar, '1.0000009', '0.99', {
            source: stellarUsdc,
            destination: polygonUsdc,
            dust: '0.0000009',
          }),
        ]);
    });

    it('takes basis points of the received amount', () => {
      const { payins, history } = received({ type: 'anyAmount', fee: { fixed: '0', basisPoints: 30 } }, '100.00');
      given(history)
        .when(funding)
        .then([
          funded(payins, { rule: 'anyAmount', received: '100', sourceAmount: '100', fee: '0.30', payout: '99.70' }),
        ]);
    });
  });
});
