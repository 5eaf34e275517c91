/** Verbs by which a stream records the progress of its transfers: the same for every stream, under its own prefix. */
import { type Decision, isRefusal, type Refusal } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { TransferLeg } from './leg.ts';
import * as record from './record.ts';
import type { DeathProof, SignedAttempt } from './shapes.ts';

/** `part` selects the transfer (`TransferKey`): 1 if a stream owes one. A `reason` has at most 400 characters. */
export interface LegOwner<S, E> {
  /** Appended BEFORE the bytes are sent; only bytes read back from the stream are ever sent. */
  sign(state: S, part: number, attempt: SignedAttempt): Decision<E>;
  /** One proof may end several attempts: all that share the nonce. */
  bury(state: S, part: number, attempts: readonly number[], proof: DeathProof): Decision<E>;
  /** Records what the chain proves about attempts. */
  conclude(state: S, part: number, outcome: record.Outcome, now: Instant): Decision<E>;
  /** Records that the block of a settled attempt left its chain: its bytes are sent again. */
  orphan(state: S, part: number, seen: record.Seen): Decision<E>;
  /** Operator's decision: the receiver has the full amount, whatever this transfer brought. */
  accept(state: S, part: number, reason: string, now: Instant): Decision<E>;
  /** Operator's decision: continue after a hundred attempts, or after a transfer that brought nothing. */
  retry(state: S, part: number, reason: string, now: Instant): Decision<E>;
}

/** Verbs of a stream whose transfers no operator accepts or retries: only the chain decides their outcome. */
export type ChainLegOwner<S, E> = Omit<LegOwner<S, E>, 'accept' | 'retry'>;

export type LegVerb = keyof LegOwner<unknown, unknown>;

export interface LegRules<S, P extends string, X extends object> {
  /** Prefix of the stream's events, such as `Payout` in `PayoutSigned`. */
  readonly prefix: P;
  /** Returns the selected leg; a refusal if nothing of it may be recorded; null if the verb has nothing to do. */
  legOf(state: S, part: number, verb: LegVerb): TransferLeg | Refusal | null;
  /** Returns the stream's own objection to the attempt, apart from the leg's rules. Default: none. */
  guard?(state: S, part: number, attempt: SignedAttempt): Refusal | undefined;
  /** Returns additional event data. Default: none. @param outcome only for `conclude` */
  extra?(state: S, part: number, outcome?: record.Outcome): X;
}

function recorderOf<S, P extends string, X extends object>({ prefix, legOf, extra }: LegRules<S, P, X>) {
  return (
    { state, part, verb, outcome }: { state: S; part: number; verb: LegVerb; outcome?: record.Outcome },
    decide: (leg: TransferLeg) => Decision<record.LegEvent>,
  ): Decision<record.Prefixed<P, X>> => {
    const leg = legOf(state, part, verb);
    if (leg === null) return [];
    return isRefusal(leg) ? leg : record.prefixed(prefix, decide(leg), extra?.(state, part, outcome) ?? ({} as X));
  };
}

export function chainLegOwner<S, P extends string, X extends object = object>(
  rules: LegRules<S, P, X>,
): ChainLegOwner<S, record.Prefixed<P, X>> {
  const { guard } = rules;
  const recorded = recorderOf(rules);
  return {
    sign: (state, part, attempt) =>
      recorded({ state, part, verb: 'sign' }, (leg) => guard?.(state, part, attempt) ?? record.sign(leg, attempt)),
    bury: (state, part, attempts, proof) =>
      recorded({ state, part, verb: 'bury' }, (leg) => record.bury(leg, attempts, proof)),
    conclude: (state, part, outcome, now) =>
      recorded({ state, part, verb: 'conclude', outcome }, (leg) => record.conclude(leg, outcome, now)),
    orphan: (state, part, seen) => recorded({ state, part, verb: 'orphan' }, (leg) => record.orphan(leg, seen)),
  };
}

export function legOwner<S, P extends string, X extends object = object>(
  rules: LegRules<S, P, X>,
): LegOwner<S, record.Prefixed<P, X>> {
  const recorded = recorderOf(rules);
  return {
    ...chainLegOwner(rules),
    accept: (state, part, reason, now) =>
      recorded({ state, part, verb: 'accept' }, (leg) => record.accept(leg, reason, now)),
    retry: (state, part, reason, now) =>
      recorded({ state, part, verb: 'retry' }, (leg) => record.retry(leg, reason, now)),
  };
}
