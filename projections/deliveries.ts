import { ofStates, upsert } from './projection.ts';

/** Every attempted webhook. A start without an outcome counts as exhausted: it is never sent again. */
export const deliveries = ofStates('deliveries', 'webhook', ({ after }) => {
  if (after.stage === 'new') return [];
  const { deliveryId, kind, firstDeliveryId, paymentId, appId, eventType, url, startedAt } = after.start;
  const outcome = after.stage === 'started' ? null : after.outcome;
  return [
    upsert('deliveries', {
      delivery_id: deliveryId,
      kind,
      first_delivery_id: firstDeliveryId,
      payment_id: paymentId,
      app_id: appId,
      event_type: eventType,
      url,
      status: after.stage === 'delivered' ? 'delivered' : 'exhausted',
      status_code: outcome?.statusCode,
      error: outcome?.error,
      response_preview: outcome?.responsePreview,
      started_at: startedAt,
      delivered_at: outcome?.finishedAt,
      duration_ms: outcome?.duration_ms,
      attempt_number: 1,
    }),
  ];
});
