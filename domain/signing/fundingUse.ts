/**
 * The payment that an incoming transfer has paid for: stream `fundingUse-<transferId>`, in the log of the process that signs. The transfer pays
 * for one payment, however many payments the service's log names it for.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { closed, Id, Time } from '../schema.ts';
import type { Instant } from '../time.ts';

export const fundingUseSchemaVersion = 1;

export const fundingUseEventSchemas = {
  FundingUsed: Type.Object({ paymentId: Id, usedAt: Time }, closed),
} as const;

export type FundingUseEvent = {
  readonly type: 'FundingUsed';
  readonly data: Static<(typeof fundingUseEventSchemas)['FundingUsed']>;
};
/** The payment; null when it has paid for none yet. */
export type FundingUseState = string | null;

export const fundingUse: Decider<FundingUseState, FundingUseEvent> = {
  category: 'fundingUse',
  initial: null,
  /** The first use counts: in the log that the service shares, an attacker can append another one. */
  evolve: (used, { data }) => used ?? data.paymentId,
};

/** Takes what came in for a payment; `[]` when the payment has it. */
export function useFunding(used: FundingUseState, paymentId: string, now: Instant): Decision<FundingUseEvent> {
  if (used === paymentId) return [];
  if (used !== null) return refuse('forbidden', `the transfer has paid for payment ${used}: it pays for no other`);
  return [{ type: 'FundingUsed', data: { paymentId, usedAt: now } }];
}
