/** Dependencies of accounts. */
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import type { Clock, CrashPoint, Ids } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import type { SecretBox } from '../security/masterKey.ts';
import type { Challenge } from './accounts.ts';
import { codeLife_ms, type EmailText } from './emails.ts';
import type { Outbox } from './outbox.ts';
import { type KeptCode, keepChallenge, type Passcodes } from './passcodes.ts';
import type { KnownPerson } from './people.ts';
import type { Tokens } from './sessions.ts';
import type { SignInLimitDeps } from './signInLimits.ts';

/** Actions with mailed codes. */
export type CodeStep = 'register' | 'begin' | 'ask' | 'prove' | 'askToConfirm' | 'confirm';

export interface AccountsDeps {
  readonly sql: SqlDatabase;
  readonly box: SecretBox;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId' | 'secret'>;
  readonly passcodes: Passcodes;
  readonly tokens: Tokens;
  readonly outbox: Outbox;
  readonly limits: SignInLimitDeps;
  readonly merchants: Pick<ManageMerchant, 'prepare' | 'register' | 'rotateSecret'>;
  /**
   * Waits until every instance has read the log up to a position; null for its current end.
   * @throws Unavailable after 5 s
   */
  readonly inForce: (position: bigint | null) => Promise<void>;
  readonly registration: RegistrationPolicy;
  /** False if no mail can be sent: then no codes can be requested. */
  readonly sendsMail: boolean;
  /** Reports each result for metrics: `ok`, or the refusal's code. */
  readonly observe?: (step: CodeStep, result: string) => void;
  readonly crash?: CrashPoint;
}

export interface Mailed {
  /** Null: no recipient, with the same work. */
  readonly to: KnownPerson | null;
  readonly registrationId: string | null;
  readonly kept: KeptCode;
  readonly letter: EmailText;
  /** Key under which the code is stored. Default: the challenge alone. */
  readonly bind?: (challenge: string) => string;
}

/** Stores the code and queues its mail, in the caller's transaction. */
export async function mailCode(
  { ids, outbox, clock }: Pick<AccountsDeps, 'ids' | 'outbox' | 'clock'>,
  tx: Sql,
  { to, registrationId, kept, letter, bind = (challenge) => challenge }: Mailed,
): Promise<Challenge> {
  const challenge = ids.secret();
  const asked = { ...kept, developerId: to?.developerId ?? null, registrationId: to && registrationId };
  const expiresAt = await keepChallenge(tx, bind(challenge), asked, clock.now());
  await outbox.put(tx, { ...letter, to, life_ms: codeLife_ms });
  return { challenge, expiresAt };
}

/** open: anyone registers. invited: only people whom the operator invited. closed: nobody. Existing users can always sign in. */
export const registrationPolicies = ['open', 'invited', 'closed'] as const;
export type RegistrationPolicy = (typeof registrationPolicies)[number];

/**
 * True if this installation lets the person register: without an invitation of the operator only under the open policy. The proof of a
 * person whom only the owner of an app invited admits to that team alone.
 */
export const isWelcome = (policy: RegistrationPolicy, person: KnownPerson | null): person is KnownPerson =>
  person !== null &&
  (policy === 'open' || person.invitedAt !== null || (person.provedAt !== null && person.joinsUntil === null));

/** True if the person can prove the address: welcome people, and those whom the owner of an app invited. */
export const canSignIn = (
  policy: RegistrationPolicy,
  person: KnownPerson | null,
  now: Instant,
): person is KnownPerson =>
  person !== null &&
  (policy === 'open' ||
    person.invitedAt !== null ||
    person.provedAt !== null ||
    (person.joinsUntil !== null && person.joinsUntil > now));
