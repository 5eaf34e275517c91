import { createClient } from './generated/heyApi/client/index.js';
import {
  addPayment,
  type CreatePaymentRequest,
  type ErrorResponse,
  getPayment,
  getPaymentByOrder,
  listPayments,
  type PaymentResponse,
  registerPayin,
} from './generated/heyApi/index.js';
import { type At, type Failure, made, type Seen } from './shop.js';

export async function shop(at: At): Promise<Seen> {
  const keyed = createClient({ baseUrl: at.url, auth: at.key });
  const admin = createClient({ baseUrl: at.url, auth: at.adminKey });
  const anybody = createClient({ baseUrl: at.url });

  const order: CreatePaymentRequest = {
    orderId: at.orderId,
    type: 'exactOut',
    display: { title: 'Coffee beans', currency: 'USD' },
    metadata: { cart: '7' },
    source: { chainId: '8453', tokenSymbol: 'USDC' },
    destination: { chainId: '1', tokenSymbol: 'USDC', amount: '10.00', receiverAddress: at.receiverAddress },
  };
  const created = await addPayment({ client: keyed, body: order });
  const payment: PaymentResponse = made(answered(created));
  const repeated = await addPayment({ client: keyed, body: order });
  const path = { id: payment.id };

  const found = answered(await getPayment({ client: keyed, path }));
  const byOrder = await getPaymentByOrder({ client: keyed, path: { appId: found.appId, orderId: at.orderId } });
  const open = answered(await getPayment({ client: anybody, path }));
  const page = answered(await listPayments({ client: admin, query: { limit: 5, orderId: at.orderId } }));
  const registered = answered(
    await registerPayin({ client: keyed, path, body: { txHash: at.txHash, fromAddress: at.receiverAddress } }),
  );

  const wrong = { ...order, orderId: null, source: { ...order.source, amount: 'ten' } };
  return {
    id: payment.id,
    location: created.response?.headers.get('location') ?? null,
    toPay: payment.source.amount,
    repeated: {
      id: made(answered(repeated)).id,
      replayed: repeated.response?.headers.get('idempotent-replayed') ?? null,
    },
    foundStatus: found.status,
    foundByOrder: answered(byOrder).id,
    publicOrderId: open.orderId,
    listed: page.data.map(({ id }) => id),
    registered: { success: registered.success, txHash: registered.source.txHash },
    errors: [
      failed(await addPayment({ client: keyed, body: wrong })),
      failed(await listPayments({ client: anybody })),
      failed(await listPayments({ client: keyed })),
      failed(await getPayment({ client: keyed, path: { id: crypto.randomUUID() } })),
    ],
  };
}

interface Answer<Data> {
  readonly data: Data | undefined;
  readonly error: ErrorResponse | undefined;
  readonly response?: Response;
}

function answered<Data>({ data, error }: Answer<Data> | Partial<Answer<Data>>): Data {
  if (data === undefined) throw new Error(error?.message);
  return data;
}

const failed = ({ error, response }: Partial<Answer<unknown>>): Failure => ({
  status: response?.status,
  error: error?.error,
  pointer: error?.errors?.[0]?.pointer,
});
