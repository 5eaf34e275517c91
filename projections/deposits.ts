import type { ChainFamily } from '../domain/chains.ts';
import { payinAddressesOf } from '../domain/payment/payins.ts';
import { familyOf, type Source } from '../domain/payment/sources.ts';
import type { Payment } from '../domain/payment/state.ts';
import { ofStates, upsert } from './projection.ts';

/** Which payment an address, or an address with a memo, belongs to. Kept for ever; an EVM address is found whichever EVM chain it was paid on. */
export const deposits = ofStates('deposits', 'payment', ({ before, after }) => {
  if (before?.deposits === after.deposits) return [];
  const { paymentId, appId, expiresAt } = after.terms;
  return Object.entries(after.deposits).flatMap(([family, deposit]) => {
    const source = sourceIn(after, family as ChainFamily);
    if (!source || before?.deposits[family as ChainFamily]) return [];
    const facts = {
      payment_id: paymentId,
      app_id: appId,
      chain_id: source.chainId,
      token_address: source.token.address,
      expires_at: expiresAt,
      agreed_usd: agreedUsd(after),
    };
    return payinAddressesOf(deposit).map((place) => upsert('deposits', { ...place, ...facts }));
  });
});

const sourceIn = ({ sources }: Payment, family: ChainFamily): Source | undefined =>
  sources.find((source) => familyOf(source) === family);

/** The agreed source amount in whole tokens, rounded up, of the source that costs most; null where any amount is taken. */
export function agreedUsd({ sources }: Payment): string | null {
  const whole = sources.flatMap(({ amount, token }) =>
    amount === null ? [] : [inWhole(BigInt(amount), token.decimals)],
  );
  const [most] = whole.sort((a, b) => Number(b - a));
  return most?.toString() ?? null;
}

function inWhole(units: bigint, decimals: number): bigint {
  const one = 10n ** BigInt(decimals);
  return (units + one - 1n) / one;
}
