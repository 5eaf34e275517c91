/** A payment on Base, 10.01 USDC, whose payer may pay from Polygon, Solana and BNB Chain (18 decimals) as well. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../../domain/decider.ts';
import { rescale } from '../../../domain/money.ts';
import { choicesMax, chooseSource, isChoiceOpen } from '../../../domain/payment/choose.ts';
import { expire } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { recordPayin } from '../../../domain/payment/payins.ts';
import { alternativeTerms, awaitedChains, canExpress } from '../../../domain/payment/sources.ts';
import { type PaymentState, paymentDecider, refundable } from '../../../domain/payment/state.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import * as p from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
const { baseUsdc, bnbUsdc, minute, polygonUsdc, solanaUsdc } = p;

const created = p.created({ alternatives: [polygonUsdc, solanaUsdc, bnbUsdc] });
const evmDeposit = p.terms().deposit;

const choosing =
  (from: p.Asset, { now = minute(2), deposit = p.depositOn(from.chain.family) } = {}) =>
  (state: PaymentState) =>
    chooseSource(state, { chainId: from.chain.id, tokenAddress: from.token.address, deposit, now });

const coming = (from: p.Asset, amount: string, tx = `from ${from.chain.name}`) => p.payin({ in: from, amount, tx });
const seeingFinal = (transfer: ReturnType<typeof coming>) => (state: PaymentState) =>
  recordPayin(state, { transfer, final: true, now: minute(6) });
const shown = (history: readonly PaymentEvent[]) => viewOf(p.paymentAfter(history), minute(9));

describe('a choice of the source', () => {
  it('contains for each source its amount, so that the merchant gets the same', () => {
    const { sources } = p.paymentAfter([created]);
    assert.deepEqual(
      sources.map(({ chainId, amount, fee }) => [chainId, amount, fee.amount]),
      [
        [8453, '10010000', '10000'],
        [137, '10010000', '10000'],
        [501, '10010000', '10000'],
        [56, '10010000000000000000', '10000000000000000'],
      ],
    );
    const any = p.paymentAfter([p.created({ type: 'anyAmount', alternatives: [bnbUsdc] })]);
    assert.deepEqual(any.sources[1]?.limits, { min: '20000000000000000', max: '10000000000000000000000' });
  });

  it('adds the fee of its route to the merchant’s amount, exactly, whatever the decimals', () => {
    const assets = [baseUsdc, bnbUsdc, solanaUsdc, p.stellarUsdc, p.ethereumUsdt];
    fc.assert(
      fc.property(
        fc.constantFrom(...assets),
        fc.constantFrom(...assets),
        fc.bigInt(1n, 10n ** 12n),
        fc.bigInt(0n, 10n ** 6n),
        fc.nat(500),
        (from, to, cents, fixed, basisPoints) => {
          const amount = cents * 10n ** BigInt(to.token.decimals - 2);
          const { token } = from;
          assert.ok(canExpress(token, amount, to.token));
          const terms = alternativeTerms({ ...from, feePolicy: { fixed, basisPoints } }, amount, {
            token: to.token,
            payout: 0n,
          });
          const net = BigInt(terms.amount ?? 0) - BigInt(terms.fee.amount ?? 0);
          assert.equal(rescale(net, token.decimals, to.token.decimals), amount);
          assert.equal(rescale(amount, to.token.decimals, token.decimals), net);
        },
      ),
    );
  });

  it('uses the deposit of another family, and keeps the one of its own', () => {
    given([created])
      .when(choosing(solanaUsdc))
      .then([p.chose(solanaUsdc)]);
    given([created])
      .when(choosing(polygonUsdc))
      .then([p.chose(polygonUsdc, evmDeposit)]);
    const another = { ...p.depositOn('solana'), address: 'another' };
    given([created, p.chose(solanaUsdc), p.chose(baseUsdc, evmDeposit)])
      .when(choosing(solanaUsdc, { deposit: another }))
      .then([p.chose(solanaUsdc)]);
  });

  it('is the same however often it is made', () => {
    given([created]).when(choosing(baseUsdc)).thenNothing();
    given([created, p.chose(solanaUsdc)])
      .when(choosing(solanaUsdc, { now: minute(99) }))
      .thenNothing();
  });

  it('shows the amount from there', () => {
    const { sourceChainId, sourceAmount, depositAddress } = shown([created, p.chose(solanaUsdc)]);
    assert.deepEqual([sourceChainId, sourceAmount, depositAddress], [501, '10.01', 'deposit on solana']);
    const back = shown([created, p.chose(solanaUsdc), p.chose(bnbUsdc, evmDeposit)]);
    assert.deepEqual([back.sourceChainId, back.depositAddress], [56, evmDeposit.address]);
  });

  it('is refused for another source, and when it is too late', () => {
    given([created])
      .when(choosing(p.ethereumUsdc))
      .thenRefused('invalidRequest', /another source/);
    given(p.unpaid).when(choosing(solanaUsdc)).thenRefused('invalidRequest');
    given([created])
      .when(choosing(solanaUsdc, { now: minute(60.1) }))
      .thenRefused('paymentNotUpdatable', /time/);
    given([created, ...p.paid.slice(1)])
      .when(choosing(solanaUsdc))
      .thenRefused('paymentNotUpdatable', /paid or over/);
    given([created, p.detected()])
      .when(choosing(solanaUsdc))
      .thenRefused('paymentNotUpdatable', /seen on Base/);
    given([]).when(choosing(solanaUsdc)).thenRefused('paymentNotFound');
  });

  it('is limited in number: everybody with the link can make it', () => {
    const choices = Array.from({ length: choicesMax }, (_, n) =>
      n % 2 === 0 ? p.chose(solanaUsdc) : p.chose(baseUsdc, evmDeposit),
    );
    given([created, ...choices])
      .when(choosing(solanaUsdc))
      .thenRefused('paymentNotUpdatable', /20 choices/);
    assert.equal(isChoiceOpen(p.paymentAfter([created, ...choices]), minute(3)), false);
    assert.equal(isChoiceOpen(p.paymentAfter([created]), minute(3)), true);
    assert.equal(isChoiceOpen(p.paymentAfter(p.unpaid), minute(3)), false);
  });
});

describe('money from several sources', () => {
  const half = coming(baseUsdc, '5.00');
  const whole = coming(solanaUsdc, '10.01');
  const fromSolana = { source: solanaUsdc, fromAlternative: true };

  it('funds the payment from the first that reaches its own amount; the rest is held', () => {
    const history = [created, p.detected(half), p.confirmed(half), p.chose(solanaUsdc)];
    given(history)
      .when(seeingFinal(whole))
      .then([p.detected(whole), p.confirmed(whole), p.funded([whole], fromSolana)]);
    const after = [...history, p.detected(whole), p.confirmed(whole), p.funded([whole], fromSolana)];
    const { status, sourceChainId, amountReceived, payinTxHash } = shown(after);
    assert.deepEqual(
      [status, sourceChainId, amountReceived, payinTxHash],
      ['payment_payin_completed', 501, '10.01', whole.txHash],
    );
    assert.deepEqual(
      refundable(p.paymentAfter(after)).map(({ reason, chainId, amount }) => [reason, chainId, amount]),
      [['held', 8453, 5_000_000n]],
    );
  });

  it('never adds up across sources', () => {
    const rest = coming(polygonUsdc, '5.01');
    given([created, p.detected(half), p.confirmed(half)])
      .when(seeingFinal(rest))
      .then([p.detected(rest), p.confirmed(rest)]);
  });

  it('counts on a chain of the same family without a choice: its address is the same', () => {
    const polygon = coming(polygonUsdc, '10.01');
    given([created])
      .when(seeingFinal(polygon))
      .then([
        p.detected(polygon),
        p.confirmed(polygon),
        p.funded([polygon], { source: polygonUsdc, fromAlternative: true }),
      ]);
  });

  it('is shown where all of it was detected, whatever was chosen last; and again as chosen when it leaves', () => {
    const seen = [created, p.chose(solanaUsdc), p.detected()];
    assert.deepEqual([shown(seen).sourceChainId, shown(seen).amountReceived], [8453, '10.01']);
    assert.equal(shown([...seen, p.orphaned()]).sourceChainId, 501);
    const partly = shown([created, p.chose(solanaUsdc), p.detected(half)]);
    assert.deepEqual([partly.status, partly.sourceChainId, partly.amountReceived], ['payment_started', 501, null]);
  });

  it('is wrong as usual if nobody agreed on its kind', () => {
    const standing = (transfer: ReturnType<typeof coming>) =>
      p.paymentAfter([created, p.detected(transfer)]).payins[0]?.standing;
    assert.equal(standing(coming(p.ethereumUsdt, '10.01')), 'wrongChain');
    assert.equal(standing({ ...coming(baseUsdc, '10.01'), token: p.ethereumUsdt.token }), 'wrongToken');
  });
});

describe('the end of a payment with several sources', () => {
  const expiring = (scanned: Readonly<Record<number, Instant>>) => (state: PaymentState) =>
    expire(state, { scannedTo: (chainId) => scanned[chainId] ?? null, now: minute(70) });
  const evm = { 8453: minute(61), 137: minute(62), 56: minute(63) };

  it('waits for every chain whose deposit was disclosed, and for no other', () => {
    assert.deepEqual(awaitedChains(p.paymentAfter([created])), [8453, 137, 56]);
    given([created])
      .when(expiring(evm))
      .then([p.expired(minute(61), minute(70))]);
    given([created])
      .when(expiring({ ...evm, 137: minute(60) }))
      .thenRefused('illegalStep', /not yet past/);
    given([created])
      .when(expiring({ 8453: minute(61), 56: minute(61) }))
      .thenRefused('illegalStep');
    given([created, p.chose(solanaUsdc)])
      .when(expiring(evm))
      .thenRefused('illegalStep');
    given([created, p.chose(solanaUsdc)])
      .when(expiring({ ...evm, 501: minute(60.5) }))
      .then([p.expired(minute(60.5), minute(70))]);
  });

  it('bounces with the money from one source, and all of it can be refunded', () => {
    const [base, solana] = [coming(baseUsdc, '5.00'), coming(solanaUsdc, '4.00')];
    const history = [created, p.chose(solanaUsdc), p.confirmed(base), p.confirmed(solana)];
    const bounce = p.bouncedOther('amountTooLow', '4.00', solanaUsdc, minute(70));
    given(history)
      .when(expiring({ ...evm, 501: minute(61) }))
      .then([bounce]);
    const { status, sourceChainId, amountReceived } = shown([...history, bounce]);
    assert.deepEqual([status, sourceChainId, amountReceived], ['payment_bounced', 501, '4.00']);
    assert.deepEqual(
      refundable(p.paymentAfter([...history, bounce])).map(({ chainId, amount }) => [chainId, amount]),
      [
        [8453, 5_000_000n],
        [501, 4_000_000n],
      ],
    );
    const elsewhere = [created, p.chose(solanaUsdc), p.confirmed(base)];
    given(elsewhere)
      .when(expiring({ ...evm, 501: minute(61) }))
      .then([p.bounced('amountTooLow', '5.00', minute(70))]);
  });

  it('is decided on the choice by then, whatever was requested before', () => {
    const asked = expiring(evm)(p.paymentAfter([created]));
    assert.ok(!isRefusal(asked));
    assert.ok(isRefusal(expiring(evm)(p.paymentAfter([created, p.chose(solanaUsdc)]))));
  });
});
