import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openApiFetch.js';
import { type At, type Failure, made, type Seen } from './shop.js';

type Schemas = components['schemas'];

export async function shop(at: At): Promise<Seen> {
  const keyed = createClient<paths>({ baseUrl: at.url, headers: { 'X-API-Key': at.key } });
  const admin = createClient<paths>({ baseUrl: at.url, headers: { Authorization: `Bearer ${at.adminKey}` } });
  const anybody = createClient<paths>({ baseUrl: at.url });

  const order: Schemas['CreatePaymentRequest'] = {
    orderId: at.orderId,
    type: 'exactOut',
    display: { title: 'Coffee beans', currency: 'USD' },
    metadata: { cart: '7' },
    source: { chainId: '8453', tokenSymbol: 'USDC' },
    destination: { chainId: '1', tokenSymbol: 'USDC', amount: '10.00', receiverAddress: at.receiverAddress },
  };
  const created = await keyed.POST('/payment-api/payments', { body: order });
  const payment: Schemas['PaymentResponse'] = made(answered(created));
  const repeated = await keyed.POST('/payment-api/payments', { body: order });
  const path = { id: payment.id };

  const found = answered(await keyed.GET('/payment-api/payments/{id}', { params: { path } }));
  const byOrder = await keyed.GET('/payment-api/payments/order/{appId}/{orderId}', {
    params: { path: { appId: found.appId, orderId: at.orderId } },
  });
  const open = answered(await anybody.GET('/payment-api/payments/{id}', { params: { path } }));
  const page = answered(
    await admin.GET('/payment-api/payments', { params: { query: { limit: 5, orderId: at.orderId } } }),
  );
  const registered = answered(
    await keyed.POST('/payment-api/payments/{id}/payin', {
      params: { path },
      body: { txHash: at.txHash, fromAddress: at.receiverAddress },
    }),
  );

  const wrong = { ...order, orderId: null, source: { ...order.source, amount: 'ten' } };
  return {
    id: payment.id,
    location: created.response.headers.get('location'),
    toPay: payment.source.amount,
    repeated: { id: made(answered(repeated)).id, replayed: repeated.response.headers.get('idempotent-replayed') },
    foundStatus: found.status,
    foundByOrder: answered(byOrder).id,
    publicOrderId: open.orderId,
    listed: page.data.map(({ id }) => id),
    registered: { success: registered.success, txHash: registered.source.txHash },
    errors: [
      failed(await keyed.POST('/payment-api/payments', { body: wrong })),
      failed(await anybody.GET('/payment-api/payments')),
      failed(await keyed.GET('/payment-api/payments')),
      failed(await keyed.GET('/payment-api/payments/{id}', { params: { path: { id: crypto.randomUUID() } } })),
    ],
  };
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: Schemas['ErrorResponse'];
  readonly response: Response;
}

function answered<Data>({ data, error }: Answer<Data>): Data {
  if (data === undefined) throw new Error(error?.message);
  return data;
}

const failed = ({ error, response }: Answer<unknown>): Failure => ({
  status: response.status,
  error: error?.error,
  pointer: error?.errors?.[0]?.pointer,
});
