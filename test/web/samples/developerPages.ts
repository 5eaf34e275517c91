/** Pages for an app's developers. */

import type { VNode } from 'preact';
import { chainOf } from '../../../domain/chains.ts';
import { eventsPage } from '../../../web/dashboard/events.ts';
import { requestsPage, type ShownRequest } from '../../../web/dashboard/requests.ts';
import { testPaymentPage } from '../../../web/dashboard/testPayment.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { Frame } from '../../../web/parts/frame.ts';
import { ago, type Say } from './payments.ts';
import { settled } from './settingsPages.ts';

export function developerPages(frame: Frame, say: Say): Readonly<Record<string, VNode>> {
  const key = { keyId: '0b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2', name: say('Shop server') };
  const request: ShownRequest = {
    at: ago(60_000),
    who: key.name,
    method: 'POST',
    route: '/payment-api/payments',
    status: 201,
    error: null,
    requestId: '0198f3c2-0000-7000-8000-000000000777',
    durationMs: 18,
  };
  const none = { keys: [key], filter: { show: null, key: null }, cursor: null, nextCursor: null };
  const event = {
    ordinal: '41',
    eventId: '0198f3c2-0000-7000-8000-000000000001',
    type: 'PaymentFunded',
    paymentId: '0198f3c2-0000-7000-8000-000000000002',
    orderId: say('NC-1009'),
    revision: 3,
    status: 'payment_payin_completed',
    previousStatus: 'payment_started',
    errorCode: null,
    at: ago(60_000),
  } as const;
  return {
    requests: requestsPage({
      ...frame,
      ...none,
      requests: [
        request,
        { ...request, status: 400, error: 'invalidRequest', requestId: say('till-4-0017'), durationMs: 3 },
        { ...request, method: 'GET', route: '/payment-api/payments/{id}', status: 503, error: 'unavailable' },
      ],
      nextCursor: 'c',
    }),
    requestsFirst: requestsPage({ ...frame, ...none, requests: [] }),
    events: eventsPage({ ...frame, events: [event, { ...event, ordinal: '40', type: 'PayinConfirmed' }], last: '52' }),
    testPayment: testPaymentPage({
      ...frame,
      ...{ form: emptyForm, nonce: 'n', source: { chain: chainOf(8453), tokenSymbol: 'USDC' }, isPaid: true },
      settlement: settled,
    }),
    eventsFirst: eventsPage({ ...frame, events: [], last: '0' }),
  };
}
