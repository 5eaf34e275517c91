/**
 * Events of a transfer after its order. Each owner stores them under its own prefix, such as PayoutSigned and RefundSigned, and folds them
 * into the transfer's leg.
 */
import { type Decision, type DomainEvent, isRefusal, type Refusal, refuse } from '../decider.ts';
import { formatAmount, unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import {
  attemptsEverMax,
  canLand,
  decidedShort,
  died,
  fellShort,
  isSpent,
  landedData,
  liveAttempts,
  type Settled,
  type Short,
  settle,
  signed,
  type TransferLeg,
  unsettle,
  withMoreAttempts,
} from './leg.ts';
import type { Cost, DeathProof, SettledData, ShortData, SignedAttempt } from './shapes.ts';

// Checks on a transfer's attempts, with the reasons of a refusal.

/**
 * Checks a new attempt: it is the first, or all others are provably dead, or it is a fee bump of the live one (same nonce, receiver and
 * amount; every fee cap higher). Identical bytes are "already done".
 */
export function checkSign(leg: TransferLeg, attempt: SignedAttempt): Decision<never> | 'ok' {
  const { order } = leg;
  if (leg.attempts.some((known) => known.signed.hash === attempt.hash)) return [];
  if (leg.settled) return refuse('illegalStep', 'the transfer is settled: nothing more may be signed for it');
  if (leg.short) return fallenShort(leg, leg.short);
  if (isSpent(leg)) return attemptsSpent(leg);
  if (attempt.attempt !== leg.attempts.length + 1) {
    return refuse(
      'illegalStep',
      `attempt ${leg.attempts.length + 1} is next, not ${attempt.attempt}: read the stream again`,
    );
  }
  if (
    attempt.chainId !== order.chainId ||
    attempt.token.address !== order.token.address ||
    attempt.receiver !== order.receiver ||
    attempt.receiverMemo !== order.receiverMemo ||
    attempt.amount !== order.amount.toString()
  ) {
    return refuse('illegalStep', 'the signed transfer is not the one that was ordered');
  }
  const live = liveAttempts(leg).at(-1);
  if (live)
    return replaces(live, attempt)
      ? 'ok'
      : refuse('illegalStep', `attempt ${live.attempt} can still land: only a fee bump of it may be signed`);
  const reused = leg.attempts.some(
    ({ signed: dead, fate }) =>
      fate !== 'lapsed' && dead.nonce !== null && dead.nonce === attempt.nonce && dead.account === attempt.account,
  );
  return reused ? refuse('illegalStep', `nonce ${attempt.nonce} is used up: assign the next`) : 'ok';
}

export const attemptsSpent = ({ attempts }: TransferLeg): Refusal =>
  refuse(
    'attemptsSpent',
    `${attempts.length} attempts were signed: find out why none settled it, then npm run payouts (of a refund: refunds) -- retry`,
  );

export const fallenShort = ({ order: { token, amount } }: TransferLeg, { hash, arrived }: Short): Refusal =>
  refuse(
    'illegalStep',
    `${hash} brought the receiver ${formatAmount(arrived, token.decimals)} of ${formatAmount(amount, token.decimals)} ${token.symbol}: find out why; ${
      arrived === 0n
        ? 'then npm run payouts (of a refund: refunds) -- retry, or pay it by hand and accept'
        : 'then pay the rest by hand and npm run payouts (of a refund: refunds) -- accept'
    }`,
  );

/** Returns why a transfer cannot be given up: an attempt can land, or has landed. */
export function tooLateToCallOff(leg: TransferLeg): Refusal | undefined {
  if (leg.short) return fallenShort(leg, leg.short);
  const landing = leg.attempts.find(canLand);
  return landing && refuse('illegalStep', `${landing.signed.hash} is signed and can land: it cannot be called off now`);
}

/** A fee bump can land only instead of the attempt that it replaces, never in addition. */
function replaces(live: SignedAttempt, bump: SignedAttempt): boolean {
  const caps = Object.entries(live.fee).filter(([name]) => name.startsWith('max'));
  return (
    live.nonce !== null &&
    bump.nonce === live.nonce &&
    bump.account === live.account &&
    caps.length > 0 &&
    caps.every(([name, cap]) => BigInt(bump.fee[name] ?? '0') > BigInt(cap))
  );
}

export function checkDied(leg: TransferLeg, attempt: number, proof: DeathProof): Decision<never> | 'ok' {
  const known = leg.attempts.find((candidate) => candidate.signed.attempt === attempt);
  if (!known) return refuse('illegalStep', `attempt ${attempt} was never signed`);
  if (!canLand(known)) return [];
  if (known.fate === 'settled') {
    return refuse(
      'illegalStep',
      `attempt ${attempt} is settled, so it cannot have died (${proof.reason}): an operator must look at it`,
    );
  }
  return 'ok';
}

export function checkSettle(leg: TransferLeg, settled: Settled): Decision<never> | 'ok' {
  if (leg.settled?.hash === settled.hash) return [];
  if (leg.settled) return refuse('illegalStep', `attempt ${leg.settled.attempt} already settled this transfer`);
  if (leg.short) return fallenShort(leg, leg.short);
  const known = leg.attempts.find((candidate) => candidate.signed.attempt === settled.attempt);
  if (known?.signed.hash !== settled.hash) return refuse('illegalStep', `attempt ${settled.attempt} has another hash`);
  if (!canLand(known))
    return refuse('illegalStep', `attempt ${settled.attempt} was proven dead: an operator must look at it`);
  return 'ok';
}

export function checkShort(leg: TransferLeg, short: Short): Decision<never> | 'ok' {
  if (leg.short?.hash === short.hash) return [];
  if (short.arrived >= leg.order.amount)
    return refuse('illegalStep', 'the ordered amount arrived: the transfer is settled');
  return checkSettle(leg, { ...short, confirmedAt: short.seenAt });
}

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

/** An owner's event: its prefix before the type, plus its own fields. */
export type Prefixed<P extends string, X extends object = object> = LegEvent extends infer E
  ? E extends LegEvent
    ? { readonly type: `${P}${E['type']}`; readonly data: X & E['data'] }
    : never
  : never;

/** @param more fields of each of the owner's events, such as the number of the transfer */
export const prefixed = <P extends string, X extends object>(
  prefix: P,
  decision: Decision<LegEvent>,
  more: X,
): Decision<Prefixed<P, X>> =>
  isRefusal(decision)
    ? decision
    : decision.map(({ type, data }) => ({ type: `${prefix}${type}`, data: { ...more, ...data } }) as Prefixed<P, X>);

/** Event without its owner's prefix; undefined for other events. */
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

/** Records only a final short transfer: nothing is paid again automatically. */
export function reportShort(leg: TransferLeg, short: Short): Decision<LegEvent> {
  const checked = checkShort(leg, short);
  const data = { ...landedData(short), arrived: unitsText(short.arrived), seenAt: short.seenAt };
  return checked === 'ok' ? [{ type: 'Short', data }] : checked;
}

/** Block in which an attempt was found. */
export interface Seen {
  readonly hash: string;
  readonly blockHash: string;
}

/** The block of a settled attempt left the chain: its bytes are sent again. */
export function orphan({ settled }: TransferLeg, seen: Seen): Decision<LegEvent> {
  if (!settled || settled.hash !== seen.hash || settled.blockHash !== seen.blockHash) return [];
  const { attempt, hash, blockHash } = settled;
  return [{ type: 'Orphaned', data: { attempt, hash, blockHash } }];
}

/** Proven outcome of attempts. */
export type Outcome =
  /** This attempt is final, and the full amount arrived. `arrived`: a flush's amount, which may be more or less. */
  | ({ readonly kind: 'final'; readonly arrived?: bigint } & Landing)
  /**
   * This attempt is final, and less than was ordered arrived: `arrived`, in smallest units of the token; for several receivers, `brought`
   * per receiver.
   */
  | ({ readonly kind: 'short'; readonly arrived: bigint; readonly brought?: readonly bigint[] } & Landing)
  /** These attempts can never land. */
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

/**
 * Operator's decision: the receiver has the full amount, whatever this transfer brought. @param reason at most 400 characters, for
 * merchants and support
 */
export function accept({ short, settled }: TransferLeg, reason: string, now: Instant): Decision<LegEvent> {
  if (!short) return settled ? [] : refuse('illegalStep', 'no transfer of this fell short: there is nothing to accept');
  return [
    { type: 'Accepted', data: { reason, acceptedAt: now } },
    { type: 'Confirmed', data: { ...landedData(short), confirmedAt: now } },
  ];
}

/** Operator's decision: continue after a hundred attempts, or after a transfer that brought nothing. @param reason as for `accept` */
export function retry(leg: TransferLeg, reason: string, now: Instant): Decision<LegEvent> {
  const { short, settled, attempts } = leg;
  if (settled) return refuse('illegalStep', 'it is settled: there is nothing to retry');
  if (short && short.arrived > 0n) return fallenShort(leg, short);
  const spent = isSpent(leg);
  if (!spent && !short) return [];
  if (spent && attempts.length >= attemptsEverMax)
    return refuse('illegalStep', `${attemptsEverMax} attempts were signed: no more are allowed`);
  return [{ type: 'Retried', data: { reason, retriedAt: now } }];
}
