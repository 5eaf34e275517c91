/** Rules of a payment about an authorization by which its payer pays without gas. */
import { type ChainFamily, chainOf } from '../chains.ts';
import { type Refusal, refuse } from '../decider.ts';
import { convert, usMillionth } from '../money.ts';
import type { Instant } from '../time.ts';
import { allCounted, type Source } from './sources.ts';
import type { Payment } from './state.ts';

/** Why money that arrives now would be too much; undefined while the payment waits for all of it. */
export function whyNoRelay(p: Payment): string | undefined {
  if (p.funded) return 'the payment is paid';
  if (p.closed) return `the payment is over (${p.closed.kind})`;
  return allCounted(p).length > 0 ? 'money for the payment was received' : undefined;
}

/** The refusal of a new authorization now. */
export function refusalToRelay(p: Payment, now: Instant): Refusal | undefined {
  const why = whyNoRelay(p) ?? (now > p.terms.expiresAt ? 'the time to pay is over' : undefined);
  return why === undefined ? undefined : refuse('paymentNotUpdatable', `${why}: look at the payment as it is now`);
}

/** A source with one exact amount on a chain of a family with authorizations. */
export interface RelayedSource extends Source {
  readonly amount: string;
}

const families: ReadonlySet<ChainFamily> = new Set(['evm', 'stellar', 'solana']);

/** Sources that an authorization can pay by the payment's own terms, the chosen one first. */
export function relayedSources({ sources, chosen }: Payment): readonly RelayedSource[] {
  const exact = sources.filter(
    (source): source is RelayedSource => source.amount !== null && families.has(chainOf(source.chainId).family),
  );
  return [...exact.filter((source) => source === chosen), ...exact.filter((source) => source !== chosen)];
}

/** The payment's fee from this source, in millionths of a dollar. */
export const feeFrom_microUsd = ({ fee, token }: Source): bigint =>
  convert(BigInt(fee.amount ?? fee.fixed), token, usMillionth);
