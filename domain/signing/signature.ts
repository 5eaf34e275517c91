/**
 * Signatures of a separate signer for one transfer, in its own log: stream `signature-<reference>`. The signer records a signature before
 * it returns it, so it knows all signatures whatever the service's log says later.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Address, Amount, closed, Hash, Height, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { hour_ms, type Instant, minute_ms, plus } from '../time.ts';
import { AssetRef } from '../transfer/shapes.ts';

export const signatureSchemaVersion = 1;

/** Maximum signatures per transfer: fee bumps and replacements after proven deaths, as many as an operator can allow. */
const signaturesMax = 1_000;

export const signatureEventSchemas = {
  TransferSigned: Type.Object(
    {
      chainId: oneOf(chainIds),
      account: Address,
      nonce: nullable(Height),
      hash: Hash,
      bytes: Type.String({ minLength: 2, maxLength: 65_536 }),
      validUntil: nullable(Text(64)),
      token: AssetRef,
      receiver: Address,
      receiverMemo: nullable(Text(128)),
      amount: Amount,
      signedAt: Time,
    },
    closed,
  ),
} as const;

export type SignatureEvent = {
  readonly type: 'TransferSigned';
  readonly data: Static<(typeof signatureEventSchemas)['TransferSigned']>;
};
export type Signature = SignatureEvent['data'];
export type SignatureState = readonly Signature[];

export const signature: Decider<SignatureState, SignatureEvent> = {
  category: 'signature',
  initial: [],
  evolve: (state, { data }) => [...state, data],
};

/** Only one of two attempts with the same nonce can land. An attempt without a nonce excludes no other. */
const sharesNonce = (a: Signature, b: Signature): boolean =>
  a.nonce !== null && a.nonce === b.nonce && a.account === b.account && a.chainId === b.chainId;

const movesTheSame = (a: Signature, b: Signature): boolean =>
  a.chainId === b.chainId &&
  a.token.address === b.token.address &&
  a.receiver === b.receiver &&
  a.receiverMemo === b.receiverMemo &&
  a.amount === b.amount;

/** Earlier signatures that could land in addition to a new one: each must be proven dead first. */
export const besides = (state: SignatureState, next: Signature): readonly Signature[] =>
  state.filter((known) => known.hash !== next.hash && !sharesNonce(known, next));

/**
 * Records a signature before it is returned; `[]` if it is recorded.
 * @param proven hashes that can never land, as the signer's own nodes prove
 */
export function noteSignature(
  state: SignatureState,
  next: Signature,
  proven: ReadonlySet<string>,
): Decision<SignatureEvent> {
  if (state.some(({ hash }) => hash === next.hash)) return [];
  const [first] = state;
  if (first && !movesTheSame(first, next))
    return refuse(
      'forbidden',
      `another transfer was signed for this purpose (${first.hash}): it is paid to nobody else`,
    );
  const alive = besides(state, next).find(({ hash }) => !proven.has(hash));
  if (alive)
    return refuse(
      'forbidden',
      `${alive.hash} was signed for this transfer and is not proven dead: a second could land too`,
    );
  if (state.length >= signaturesMax)
    return refuse('attemptsSpent', `${signaturesMax} signatures were made for this transfer: no more are`);
  return [{ type: 'TransferSigned', data: next }];
}

// Signed amounts of the last hour, for the signer's limits after a restart: one stream per minute,
// `signingHour-2026-11-22T18:05`. Older streams hold an hour each, `signingHour-2026-11-22T18`.

export const signingHourSchemaVersion = 1;

/** Maximum signatures per minute: a hundred per second. */
export const signedMax = 6_000;

export const signingHourEventSchemas = {
  SpendingCounted: Type.Object(
    {
      hash: Hash,
      chainId: oneOf(chainIds),
      reference: Text(200),
      appId: nullable(Id),
      /** In millionths of a dollar. */
      amount_microUsd: Amount,
      /** Maximum, in smallest units of the chain's coin. */
      coin: Amount,
      at: Time,
    },
    closed,
  ),
} as const;

export type SigningHourEvent = {
  readonly type: 'SpendingCounted';
  readonly data: Static<(typeof signingHourEventSchemas)['SpendingCounted']>;
};
export type Counted = SigningHourEvent['data'];
export type SigningHourState = readonly Counted[];

export const signingHour: Decider<SigningHourState, SigningHourEvent> = {
  category: 'signingHour',
  initial: [],
  evolve: (state, { data }) => [...state, data],
};

const hourOf = (at: Instant): string => at.slice(0, '2026-11-22T18'.length);

/** Stream of a signature made now. */
export const signingMinuteOf = (at: Instant): string => at.slice(0, '2026-11-22T18:05'.length);

/** Streams that hold the last sixty minutes, including those of older versions. */
export function lastHour(now: Instant): readonly string[] {
  const from = plus(now, -hour_ms);
  const minutes = Array.from({ length: hour_ms / minute_ms + 1 }, (_, n) => signingMinuteOf(plus(from, n * minute_ms)));
  return [...new Set([hourOf(from), hourOf(now), ...minutes])];
}

/** Counts a signature before it is returned; `[]` if it is counted. */
export function countSpending(state: SigningHourState, counted: Counted): Decision<SigningHourEvent> {
  if (state.some(({ hash }) => hash === counted.hash)) return [];
  if (state.length >= signedMax) return refuse('rateLimited', `${signedMax} signatures were made this minute: wait`);
  return [{ type: 'SpendingCounted', data: counted }];
}
