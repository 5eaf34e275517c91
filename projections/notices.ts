import { largeMin_microUsd } from '../domain/merchant/notifications.ts';
import { convert, formatAmount, usMillionth } from '../domain/money.ts';
import { refundable } from '../domain/payment/state.ts';
import { ofEvents, type RowChange, type SeenEventOf, upsert } from './projection.ts';

/** Events that an app's members can be notified of. */
export const notices = ofEvents('notices', (seen) => {
  if (seen.category === 'payment') return ofPayment(seen);
  if (seen.category !== 'webhook') return [];
  const { event, after, stored } = seen;
  if (event.type !== 'WebhookExhausted' || after.stage === 'new' || after.start.kind === 'test') return [];
  if (event.data.error === 'endpointRemoved') return [];
  const nothing = { payment_id: null, amount: null, token_symbol: null };
  return [upsert('notices', { ...factsOf(stored, after.start.appId), kind: 'webhookFailing', ...nothing })];
});

/** Only these events can be the first that holds money of a payment. */
const holds = new Set(['PayinConfirmed', 'PaymentFunded', 'PaymentBounced']);

function ofPayment({ event, before, after, stored }: SeenEventOf<'payment'>): readonly RowChange[] {
  if (!holds.has(event.type)) return [];
  const { paymentId: payment_id, appId } = after.terms;
  const facts = { ...factsOf(stored, appId), payment_id };
  const [held] = refundable(after);
  if (held && (!before || refundable(before).length === 0))
    return [upsert('notices', { ...facts, kind: 'moneyHeld', ...amountOf(held.amount, held.token) })];
  if (event.type !== 'PaymentFunded' || event.data.rule === 'cashback') return [];
  const { token } = after.terms.source;
  const received = BigInt(event.data.received);
  if (convert(received, token, usMillionth) < largeMin_microUsd) return [];
  return [upsert('notices', { ...facts, kind: 'largePayment', ...amountOf(received, token) })];
}

const amountOf = (amount: bigint, token: { readonly symbol: string; readonly decimals: number }) => ({
  amount: formatAmount(amount, token.decimals),
  token_symbol: token.symbol,
});

const factsOf = ({ id: event_id, position, metadata }: SeenEventOf['stored'], app_id: string) => ({
  event_id,
  app_id,
  position: position.toString(),
  at: metadata.at,
});
