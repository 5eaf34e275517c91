import { formatAmount } from '../domain/money.ts';
import { dollars } from './links.ts';
import { ofEvents, type RowChange, type Seen, upsert } from './projection.ts';

/** What people did about an app beside its own stream, for the history that its owner reads. */
export const appChanges = ofEvents('appChanges', (seen) => {
  if (seen.category === 'link') return ofLink(seen);
  return seen.category === 'payment' ? ofRefund(seen) : [];
});

function ofLink({ event, after, stored }: Seen<'link'>): readonly RowChange[] {
  const kind = event.type === 'LinkClosed' ? 'linkClosed' : 'linkMade';
  const { appId: app_id, title, amount_microUsd } = after;
  return [upsert('app_changes', { ...changed(stored), app_id, kind, title, amount: dollars(amount_microUsd) })];
}

function ofRefund({ event, after, stored }: Seen<'payment'>): readonly RowChange[] {
  if (event.type !== 'RefundRequested' && event.type !== 'RefundCalledOff') return [];
  const order = after.refunds.find(({ refund }) => refund === event.data.refund)?.order;
  if (!order) return [];
  const { chainId: chain_id, token, receiver } = order;
  const { paymentId: payment_id, appId: app_id } = after.terms;
  return [
    upsert('app_changes', {
      ...{ ...changed(stored), app_id, payment_id, chain_id, receiver },
      kind: event.type === 'RefundRequested' ? 'refundOrdered' : 'refundCalledOff',
      amount: formatAmount(order.amount, token.decimals),
      token_symbol: token.symbol,
    }),
  ];
}

const changed = ({ id: event_id, metadata }: Seen['stored']) => ({
  ...{ event_id, changed_at: metadata.at, changed_by: metadata.cause },
  ...{ title: null, amount: null, token_symbol: null, chain_id: null, payment_id: null, receiver: null },
});
