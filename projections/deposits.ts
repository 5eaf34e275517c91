import { chainOf } from '../domain/chains.ts';
import type { PaymentCreated } from '../domain/payment/events.ts';
import { ofPayments, upsert } from './projection.ts';

/** Which payment an address is for. Kept for ever, and found whichever EVM chain pays it. */
export const deposits = ofPayments('deposits', ({ before, after: { terms } }) => {
  if (before) return [];
  const { paymentId, appId, source, deposit, expiresAt } = terms;
  const evm = chainOf(source.chainId).family === 'evm';
  const owner = {
    payment_id: paymentId,
    app_id: appId,
    chain_id: source.chainId,
    token_address: source.token.address,
    expires_at: expiresAt,
    agreed_usd: agreedUsd(terms),
  };
  const address = evm ? deposit.address.toLowerCase() : deposit.address;
  const places = [{ address, memo: deposit.memo ?? '' }];
  if (deposit.contract !== null) places.push({ address: deposit.contract, memo: deposit.contractMemo ?? '' });
  return places.map((place) => upsert('deposits', { ...place, ...owner }));
});

/** The agreed source amount in whole tokens, rounded up; null where any amount is taken. */
export function agreedUsd({ source }: Pick<PaymentCreated, 'source'>): string | null {
  if (source.amount === null) return null;
  const one = 10n ** BigInt(source.token.decimals);
  return ((BigInt(source.amount) + one - 1n) / one).toString();
}
