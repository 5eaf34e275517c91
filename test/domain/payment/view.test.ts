import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { transactionsOf } from '../../../domain/payment/transactions.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import {
  attempt,
  bnbUsdc,
  bounced,
  confirmed,
  created,
  customerWallet,
  depositAddress,
  detected,
  died,
  done,
  ethereumUsdc,
  event,
  expired,
  feeCaps,
  funded,
  hashOf,
  merchantWallet,
  minute,
  ordered,
  orphaned,
  paid,
  payin,
  paymentAfter,
  polygonUsdc,
  refundAddressSet,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  sent,
  signed,
  treasuryAccount,
  unpaid,
  unsettled,
} from '../../support/payments.ts';

const view = (history: readonly PaymentEvent[]) => viewOf(paymentAfter(history), minute(99));

describe('the view of a payment', () => {
  it('shows of a new one the source and amount, and nulls for everything later', () => {
    assert.deepEqual(view(unpaid), {
      paymentId: '0198f3c2-0000-8000-8000-000000000001',
      appId: 'wallet_demo',
      orderId: null,
      status: 'payment_unpaid',
      errorCode: null,
      errorMessage: null,
      type: 'exactOut',
      intent: null,
      keyless: false,
      lineItems: null,
      title: 'Coffee beans',
      description: null,
      currency: 'USD',
      metadata: null,
      webhookUrl: null,
      createdAt: minute(0),
      updatedAt: minute(99),
      expiresAt: minute(60),
      sourceChainId: 8453,
      sourceTokenSymbol: 'USDC',
      sourceTokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      sourceAmount: '10.01',
      sourceFee: '0.01',
      depositAddress,
      depositMemo: null,
      depositContract: null,
      depositContractMemo: null,
      senderAddress: null,
      payinTxHash: null,
      amountReceived: null,
      amountExpected: '10.01',
      amountCame: '0.00',
      amountDelta: '-10.01',
      payinSeenAt: null,
      payinConfirmedAt: null,
      destinationChainId: 1,
      destinationTokenSymbol: 'USDC',
      destinationTokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      destinationAmount: '10.00',
      receiverAddress: merchantWallet,
      receiverMemo: null,
      payFrom: null,
      payoutTxHash: null,
      payoutConfirmedAt: null,
      missing: null,
      held: null,
      cancelledAt: null,
      note: null,
      tags: null,
      excess: null,
      dust: null,
      refunded: '0.00',
      refunds: [],
    });
  });

  it('always has the same fields', () => {
    const fields = Object.keys(view(unpaid));
    for (const history of [paid, sent, done, [...unpaid, expired()], [created({ type: 'anyAmount' })]]) {
      assert.deepEqual(Object.keys(view(history)), fields);
      assert.ok(Object.values(view(history)).every((value) => value !== undefined));
    }
  });

  it('shows the payin as soon as it is detected, and when it funded the payment', () => {
    const { senderAddress, payinTxHash, amountReceived, payinConfirmedAt } = view([...unpaid, detected()]);
    assert.deepEqual(
      [senderAddress, payinTxHash, amountReceived, payinConfirmedAt],
      [customerWallet, hashOf('payin'), '10.01', null],
    );
    assert.equal(view(paid).payinConfirmedAt, minute(6));
    assert.equal(view([...unpaid, detected(), orphaned()]).payinTxHash, null);
  });

  it('shows a registered payin until verified facts replace it', () => {
    const hint = { txHash: hashOf('announced'), senderAddress: merchantWallet, registeredAt: minute(2) };
    const announced = [...unpaid, event('PayinRegistered', hint)];
    assert.deepEqual(
      [view(announced).payinTxHash, view(announced).senderAddress, view(announced).amountReceived],
      [hashOf('announced'), merchantWallet, null],
    );
    const seen = view([...announced, detected()]);
    assert.deepEqual([seen.payinTxHash, seen.senderAddress], [hashOf('payin'), customerWallet]);
  });

  it('adds up several payins, and omits those that do not count', () => {
    const parts = [payin({ amount: '1.00' }), payin({ amount: '2.00', tx: 'second' })].map((part) => detected(part));
    assert.equal(view([...unpaid, ...parts]).amountReceived, '3.00');
    const wrong = detected(payin({ in: bnbUsdc, amount: '5.00', tx: 'wrong' }));
    assert.equal(view([...unpaid, ...parts, wrong]).amountReceived, '3.00');
  });

  it('shows amounts of any amount once they are known', () => {
    const any = [created({ type: 'anyAmount', from: bnbUsdc, to: polygonUsdc })];
    const { sourceAmount, sourceFee, destinationAmount } = view(any);
    assert.deepEqual([sourceAmount, sourceFee, destinationAmount], [null, null, null]);
    const transfer = payin({ in: bnbUsdc, amount: '5.00' });
    const amounts = { rule: 'anyAmount', received: '5', sourceAmount: '5', payout: '4.99' } as const;
    const known = view([
      ...any,
      confirmed(transfer),
      funded([transfer], { ...amounts, source: bnbUsdc, destination: polygonUsdc }),
    ]);
    assert.deepEqual([known.sourceAmount, known.sourceFee, known.destinationAmount], ['5.00', '0.01', '4.99']);
  });

  it('shows the payout’s latest hash once it is signed, and when it is final', () => {
    const bump = attempt(2, { fee: feeCaps(113) });
    const payoutOf = (history: readonly PaymentEvent[]) => [
      view(history).payoutTxHash,
      view(history).payoutConfirmedAt,
    ];
    assert.deepEqual(payoutOf(ordered), [null, null]);
    assert.deepEqual(payoutOf(sent), [attempt().hash, null]);
    assert.deepEqual(payoutOf([...sent, signed(bump)]), [bump.hash, null]);
    assert.deepEqual(payoutOf([...sent, died()]), [null, null]);
    assert.deepEqual(payoutOf(done), [attempt().hash, minute(9)]);
    assert.deepEqual(payoutOf([...done, unsettled()]), [attempt().hash, null]);
  });

  it('never shows a payout when it is folded only up to the funding', () => {
    const upToFunding = done.slice(0, paid.length);
    assert.equal(view(upToFunding).payoutTxHash, null);
    assert.equal(view(upToFunding).status, 'payment_payin_completed');
  });

  it('states why a payment bounced, and nothing of the kind otherwise', () => {
    const bouncing = view([...unpaid, confirmed(payin({ amount: '1.00' })), bounced('amountTooLow', '1.00')]);
    assert.equal(bouncing.errorCode, 'amountTooLow');
    assert.match(bouncing.errorMessage ?? '', /refunded/);
    assert.equal(view([...unpaid, expired()]).errorCode, null);
  });
});

describe('the transactions of a payment', () => {
  it('are its payins, payout attempts and refund attempts', () => {
    const wrong = payin({ in: ethereumUsdc, amount: '5.00', tx: 'wrong' });
    const back = refundAttempt(1, '5.00', { to: ethereumUsdc });
    const history = [
      ...done,
      confirmed(wrong),
      refundAddressSet(),
      refundRequested('5.00', { reason: 'held', in: ethereumUsdc }),
      refundSigned(1, back),
      refundSettled(1, back),
    ];
    const rows = transactionsOf(paymentAfter(history));
    assert.deepEqual(
      rows.map((row) => [row.kind, row.chainId, row.status, row.standing, row.amount]),
      [
        ['payin', 8453, 'confirmed', 'counted', '10.01'],
        ['payin', 1, 'confirmed', 'wrongChain', '5.00'],
        ['payout', 1, 'settled', null, '10.00'],
        ['refund', 1, 'settled', null, '5.00'],
      ],
    );
    assert.deepEqual(rows[2], {
      kind: 'payout',
      chainId: 1,
      txHash: attempt().hash,
      index: 1,
      status: 'settled',
      standing: null,
      tokenSymbol: 'USDC',
      tokenAddress: ethereumUsdc.token.address,
      amount: '10.00',
      fromAddress: treasuryAccount,
      toAddress: merchantWallet,
      blockNumber: '200',
      blockHash: hashOf('block', 200),
      at: minute(8),
    });
  });

  it('show the block of the attempt that settled only', () => {
    const bump = attempt(2, { fee: feeCaps(113) });
    const rows = transactionsOf(paymentAfter([...sent, signed(bump), died(1)]));
    assert.deepEqual(
      rows.slice(1).map(({ index, status, blockNumber }) => [index, status, blockNumber]),
      [
        [1, 'dead', null],
        [2, 'live', null],
      ],
    );
  });
});
