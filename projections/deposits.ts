import type { PaymentCreated } from '../domain/payment/events.ts';
import { payinAddressesOf } from '../domain/payment/payins.ts';
import { ofStates, upsert } from './projection.ts';

/** Which payment an address, or an address with a memo, belongs to. Kept for ever; an EVM address is found whichever EVM chain it was paid on. */
export const deposits = ofStates('deposits', 'payment', ({ before, after: { terms } }) => {
  if (before) return [];
  const { paymentId, appId, source, deposit, expiresAt } = terms;
  const facts = {
    payment_id: paymentId,
    app_id: appId,
    chain_id: source.chainId,
    token_address: source.token.address,
    expires_at: expiresAt,
    agreed_usd: agreedUsd(terms),
  };
  return payinAddressesOf(deposit).map((place) => upsert('deposits', { ...place, ...facts }));
});

/** The agreed source amount in whole tokens, rounded up; null where any amount is taken. */
export function agreedUsd({ source }: Pick<PaymentCreated, 'source'>): string | null {
  if (source.amount === null) return null;
  const one = 10n ** BigInt(source.token.decimals);
  return ((BigInt(source.amount) + one - 1n) / one).toString();
}
