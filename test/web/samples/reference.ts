/** A part of the OpenAPI document: the operation with the longest texts, and one without fields. */
import { openApiDocument } from '../../../src/api/openapi/document.ts';
import { route } from '../../../src/api/router.ts';
import { CreatePaymentRequest } from '../../../src/api/schemas/requests.ts';
import { HealthResponse, PaymentResponse } from '../../../src/api/schemas/responses.ts';

const handle = async () => ({ status: 200, body: {} });

export const sampleReference = openApiDocument(
  [
    route({
      method: 'post',
      path: '/payment-api/payments',
      auth: 'optional',
      body: CreatePaymentRequest,
      answers: { 201: { description: 'Created', schema: PaymentResponse } },
      errors: ['orderConflict', 'routeUnavailable'],
      doc: {
        id: 'addPayment',
        tag: 'Payments',
        summary: 'Create a payment',
        description: 'Sent again, it creates nothing.',
      },
      handle,
    }),
    route({
      method: 'get',
      path: '/healthz',
      auth: 'none',
      answers: { 200: { description: 'The process answers', schema: HealthResponse } },
      errors: [],
      doc: { id: 'getHealth', tag: 'Operations', summary: 'Whether the process is alive' },
      handle,
    }),
  ],
  'https://payments.example',
);
