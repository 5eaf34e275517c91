import type { Stats } from '../../queries/getStats.ts';
import type { Delivery } from '../../queries/listDeliveries.ts';

export const sampleStats: Stats = {
  period: 'today',
  volumeUsdc: '20.02',
  paymentCount: 2,
  avgOrderUsdc: '10.01',
  netToWalletUsdc: '20.00',
  chart: [{ date: '2026-11-21', volumeUsdc: '20.02', paymentCount: 2 }],
};

export const sampleDelivery: Delivery = {
  deliveryId: '9b2f5c1e-8d39-4a53-8f1c-5e0f4f6b1d11',
  paymentId: '0d9c1c60-7a43-8a5e-9b57-1d1c9f7f2a10',
  eventType: 'payment_payin_completed',
  statusCode: null,
  responsePreview: null,
  deliveredAt: '2026-11-21T09:00:00.000Z',
  status: 'exhausted',
  attemptNumber: 1,
};
