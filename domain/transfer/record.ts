/**
 * What streams record of a transfer once it is ordered. Each owner has these events under a prefix of its own, such as PayoutSigned and
 * RefundSigned, and folds them into the transfer's leg.
 */
import { type Decision, type DomainEvent, isRefusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import {
  attemptsEverMax,
  decidedShort,
  died,
  fellShort,
  isSpent,
  landedData,
  type Settled,
  type Short,
  settle,
  signed,
  type TransferLeg,
  unsettle,
  withMoreAttempts,
} from './leg.ts';
import { checkDied, checkSettle, checkShort, checkSign, fallenShort } from './rules.ts';
import type { Cost, DeathProof, SettledData, ShortData, SignedAttempt } from './shapes.ts';

export type LegEvent =
  | { readonly type: 'Signed'; readonly data: SignedAttempt }
  | { readonly type: 'Died'; readonly data: { readonly attempt: number; readonly proof: DeathProof } }
  | { readonly type: 'Confirmed'; readonly data: SettledData }
  | { readonly type: 'Orphaned'; readonly data: Seen & { readonly attempt: number } }
  | { readonly type: 'Short'; readonly data: ShortData }
  | { readonly type: 'Accepted'; readonly data: { readonly reason: string; readonly acceptedAt: Instant } }
  | { readonly type: 'Retried'; readonly data: { readonly reason: string; readonly retriedAt: Instant } };

const types: ReadonlySet<string> = new Set<LegEvent['type']>([
  'Signed',
  'Died',
  'Confirmed',
  'Orphaned',
  'Short',
  'Accepted',
  'Retried',
]);

export function evolveLeg<L extends TransferLeg>(leg: L, { type, data }: LegEvent): L {
  switch (type) {
    case 'Signed':
      return signed(leg, data);
    case 'Died':
      return died(leg, data.attempt, data.proof);
    case 'Confirmed':
      return settle(leg, data);
    case 'Orphaned':
      return unsettle(leg);
    case 'Short':
      return fellShort(leg, { ...data, arrived: BigInt(data.arrived) });
    case 'Accepted':
      return decidedShort(leg, 'as all');
    case 'Retried':
      return withMoreAttempts(decidedShort(leg, 'as nothing'));
  }
}

/** An owner's event: its prefix in front of the type, and what else it says. */
export type Prefixed<P extends string, X extends object = object> = LegEvent extends infer E
  ? E extends LegEvent
    ? { readonly type: `${P}${E['type']}`; readonly data: X & E['data'] }
    : never
  : never;

/** @param more that each of the owner's events says, such as which of its transfers it is about */
export const prefixed = <P extends string, X extends object>(
  prefix: P,
  decision: Decision<LegEvent>,
  more: X,
): Decision<Prefixed<P, X>> =>
  isRefusal(decision)
    ? decision
    : decision.map(({ type, data }) => ({ type: `${prefix}${type}`, data: { ...more, ...data } }) as Prefixed<P, X>);

/** The event without its owner's prefix; undefined for one that is not of these. */
export function unprefixed(prefix: string, { type, data }: DomainEvent): LegEvent | undefined {
  const rest = type.startsWith(prefix) ? type.slice(prefix.length) : '';
  return types.has(rest) ? ({ type: rest, data } as LegEvent) : undefined;
}

/** Appended BEFORE the bytes are sent; only bytes read back from the stream are ever sent. */
export function sign(leg: TransferLeg, attempt: SignedAttempt): Decision<LegEvent> {
  const checked = checkSign(leg, attempt);
  return checked === 'ok' ? [{ type: 'Signed', data: attempt }] : checked;
}

/** One proof may end several attempts: all that share the nonce. */
export function bury(leg: TransferLeg, attempts: readonly number[], proof: DeathProof): Decision<LegEvent> {
  const events: LegEvent[] = [];
  for (const attempt of attempts) {
    const checked = checkDied(leg, attempt, proof);
    if (checked === 'ok') events.push({ type: 'Died', data: { attempt, proof } });
    else if ('refused' in checked) return checked;
  }
  return events;
}

export function confirm(leg: TransferLeg, settled: Settled): Decision<LegEvent> {
  const checked = checkSettle(leg, settled);
  const data = { ...landedData(settled), confirmedAt: settled.confirmedAt };
  return checked === 'ok' ? [{ type: 'Confirmed', data }] : checked;
}

/** Said only of what can leave its chain no more: nothing is paid again by itself. */
export function reportShort(leg: TransferLeg, short: Short): Decision<LegEvent> {
  const checked = checkShort(leg, short);
  const data = { ...landedData(short), arrived: unitsText(short.arrived), seenAt: short.seenAt };
  return checked === 'ok' ? [{ type: 'Short', data }] : checked;
}

/** Where an attempt was seen. */
export interface Seen {
  readonly hash: string;
  readonly blockHash: string;
}

/** A settled attempt's block left the chain: its bytes are sent again. */
export function orphan({ settled }: TransferLeg, seen: Seen): Decision<LegEvent> {
  if (!settled || settled.hash !== seen.hash || settled.blockHash !== seen.blockHash) return [];
  const { attempt, hash, blockHash } = settled;
  return [{ type: 'Orphaned', data: { attempt, hash, blockHash } }];
}

/** What a chain proves about attempts. */
export type Outcome =
  /** This attempt landed for good, and all that was ordered arrived. `arrived`: what a flush brought, which may be more or less. */
  | ({ readonly kind: 'final'; readonly arrived?: bigint } & Landing)
  /** This attempt landed, for good, and less than was ordered reached the receiver: `arrived`, in smallest units of the token; of several, `brought` to each. */
  | ({ readonly kind: 'short'; readonly arrived: bigint; readonly brought?: readonly bigint[] } & Landing)
  /** These can not land any more. */
  | { readonly kind: 'dead'; readonly attempts: readonly number[]; readonly proof: DeathProof };

interface Landing extends Seen {
  readonly attempt: number;
  readonly blockNumber: bigint;
  readonly cost?: Cost;
}

export function conclude(leg: TransferLeg, outcome: Outcome, now: Instant): Decision<LegEvent> {
  if (outcome.kind === 'dead') return bury(leg, outcome.attempts, outcome.proof);
  const landed = landedData({ ...outcome, blockNumber: outcome.blockNumber.toString() });
  return outcome.kind === 'short'
    ? reportShort(leg, { ...landed, arrived: outcome.arrived, seenAt: now })
    : confirm(leg, { ...landed, confirmedAt: now });
}

/** An operator's decision: the receiver has it all, whatever its own transfer brought. @param reason at most 400 characters, for whoever asks why */
export function accept({ short, settled }: TransferLeg, reason: string, now: Instant): Decision<LegEvent> {
  if (!short) return settled ? [] : refuse('illegalStep', 'no transfer of this fell short: there is nothing to accept');
  return [
    { type: 'Accepted', data: { reason, acceptedAt: now } },
    { type: 'Confirmed', data: { ...landedData(short), confirmedAt: now } },
  ];
}

/** An operator's decision: it goes on after a hundred attempts, or a transfer that brought nothing. @param reason as for `accept` */
export function retry(leg: TransferLeg, reason: string, now: Instant): Decision<LegEvent> {
  const { short, settled, attempts } = leg;
  if (settled) return refuse('illegalStep', 'it is settled: there is nothing to try again');
  if (short && short.arrived > 0n) return fallenShort(leg, short);
  const spent = isSpent(leg);
  if (!spent && !short) return [];
  if (spent && attempts.length >= attemptsEverMax)
    return refuse('illegalStep', `${attemptsEverMax} attempts were signed: no more are allowed`);
  return [{ type: 'Retried', data: { reason, retriedAt: now } }];
}
