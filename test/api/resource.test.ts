import assert from 'node:assert/strict';
import { sampleWebhookData, webhookData } from '../../domain/payment/view.ts';
import { creatorResource, paymentResource, publicResource } from '../../src/api/resource.ts';
import { sampleView } from './samples.ts';

const ofTheApp = ['metadata', 'webhookUrl', 'webhookSecretSource', 'paymentLink', 'merchant'];

describe('the payment resource', () => {
  const page = {
    paymentLink: 'https://pay.example/pay/secret',
    merchant: { name: 'Tea House', logoUrl: null, colour: '#0a5c48', supportContact: 'help@tea.example' },
  };
  const full = paymentResource(sampleView, page);

  it('holds the fields of the service reference, amounts and chain ids as strings', () => {
    assert.deepEqual(full, {
      id: sampleView.paymentId,
      keyless: false,
      appId: 'merchant_demo',
      orderId: 'order-7',
      status: 'payment_payin_completed',
      errorCode: null,
      errorMessage: null,
      type: 'exactOut',
      createdAt: '2026-11-21T09:00:00.000Z',
      updatedAt: '2026-11-21T09:01:00.000Z',
      expiresAt: '2026-11-21T10:00:00.000Z',
      display: { title: 'Coffee beans', name: 'Coffee beans', description: null, currency: 'USD' },
      source: {
        chainId: '8453',
        tokenSymbol: 'USDC',
        tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        amount: '10.01',
        receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        receiverMemo: null,
        fee: '0.01',
        senderAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        txHash: `0x${'ab'.repeat(32)}`,
        amountReceived: '10.01',
        confirmedAt: '2026-11-21T09:01:00.000Z',
        receiverAddressContract: null,
        receiverMemoContract: null,
      },
      destination: {
        chainId: '1',
        receiverAddress: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        receiverMemo: null,
        tokenSymbol: 'USDC',
        tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        amount: '10.00',
        txHash: null,
        confirmedAt: null,
      },
      metadata: { cart: '7' },
      webhookSecret: null,
      webhookUrl: 'https://shop.example/hooks',
      webhookSecretSource: 'app',
      ...page,
      payFrom: null,
      refunds: [],
      amounts: { expected: '10.01', received: '10.01', delta: '0.00' },
    });
  });

  it('goes into webhooks without the app’s private fields, and with every other field', () => {
    const expected = Object.fromEntries(Object.entries(full).filter(([name]) => !ofTheApp.includes(name)));
    assert.deepEqual(webhookData(sampleView), expected);
  });

  it('goes into test webhooks with the same fields', () => {
    const test = sampleWebhookData(sampleView.appId, sampleView.createdAt);
    assert.deepEqual(Object.keys(test).sort(), Object.keys(webhookData(sampleView)).sort());
  });

  it('shows the public every field, null where it belongs to the app', () => {
    const hidden = Object.fromEntries([...ofTheApp, 'orderId'].map((name) => [name, null]));
    assert.deepEqual(publicResource(sampleView), { ...full, ...hidden });
  });

  it('also shows the creator of a payment without a key the order id and the payment page', () => {
    const hidden = { metadata: null, webhookUrl: null, webhookSecretSource: null };
    assert.deepEqual(creatorResource(sampleView, page), { ...full, ...hidden });
  });
});
