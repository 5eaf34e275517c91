/** What a completed payment earns whom. */
import type { Earning } from '../credit.ts';
import { rescale } from '../money.ts';
import type { Payment } from './state.ts';

const centDecimals = 2;

/**
 * The share of the payment that each of its payers gets, by what each paid of it; rounded down, and nothing below a cent. Empty for a
 * payment that promised none when it was created, or is not funded.
 */
export function earningsOf({ terms, funded, payins }: Payment): readonly Earning[] {
  const basisPoints = terms.cashback_basisPoints ?? 0;
  if (!funded || basisPoints === 0) return [];
  const { chainId, token } = terms.source;
  const counted = payins.filter(({ id }) => funded.transferIds.includes(id));
  const byPayer = Map.groupBy(counted, ({ transfer }) => transfer.from);
  return [...byPayer].flatMap(([account, paid]) => {
    const part = paid.reduce((sum, { amount }) => sum + amount, 0n);
    const units = (funded.sourceAmount * part * BigInt(basisPoints)) / (funded.received * 10_000n);
    const cents = rescale(units, token.decimals, centDecimals);
    return cents > 0n ? [{ account, paymentId: terms.paymentId, appId: terms.appId, chainId, basisPoints, cents }] : [];
  });
}
