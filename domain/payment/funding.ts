/** What funded a payment and how it is divided. */
import type { Instant } from '../time.ts';
import type { PaymentEventData } from './events.ts';

/** All in source units, except payout in destination units: received = payout + fee + excess + dust. */
export interface Funding {
  readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
  readonly transferIds: readonly string[];
  readonly received: bigint;
  readonly sourceAmount: bigint;
  readonly fee: bigint;
  readonly excess: bigint;
  readonly dust: bigint;
  readonly payout: bigint;
  readonly fundedAt: Instant;
}

export const fundingOf = (data: PaymentEventData<'PaymentFunded'>): Funding => ({
  rule: data.rule,
  transferIds: data.transferIds,
  received: BigInt(data.received),
  sourceAmount: BigInt(data.sourceAmount),
  fee: BigInt(data.fee),
  excess: BigInt(data.excess),
  dust: BigInt(data.dust),
  payout: BigInt(data.payout),
  fundedAt: data.fundedAt,
});
