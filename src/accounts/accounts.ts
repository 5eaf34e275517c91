/**
 * People who own apps: registration, proof of their e-mail address, sign-in. Their addresses and names are stored here; events contain only
 * ids.
 */
import type { By } from '../../commands/handle.ts';
import type { SettlementRequest } from '../../commands/manageMerchant.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import type { AppKind } from '../../domain/merchant/app.ts';
import type { Instant } from '../../domain/time.ts';

/** A signed-in person. */
export interface SignedIn {
  readonly developerId: string;
  readonly sessionId: string;
}

/** A caller before sign-in. */
export interface Asker {
  /** Network address that limits count: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
  readonly userAgent: string | null;
  /** Value that `prove` gave this browser at its last sign-in. It has its own limits, which nobody else can use up. */
  readonly known: string | null;
}

export interface AccountRegistration {
  readonly email: string;
  /** Name of the app for payers. */
  readonly displayName: string;
  readonly kind: AppKind;
  /** The app's id becomes `<kind>_<slug>`; null: a slug from the display name. */
  readonly slug: string | null;
  readonly settlement: SettlementRequest | null;
  readonly webhookUrl: string | null;
}

/** An app that a signed-in person registers. Its wallet and webhook are set later. */
export type AppRequest = Pick<AccountRegistration, 'displayName' | 'kind' | 'slug'>;

/** A code was mailed, if the address belongs to somebody: the answer is the same either way. */
export interface Challenge {
  /** 256 random bits, which the browser keeps in a cookie. The code is only valid together with them. */
  readonly challenge: string;
  readonly expiresAt: Instant;
}

/** A registration that waits for its proof; service reference 2.8. The secret is returned here and never again. */
export interface Registering extends Challenge {
  readonly developerId: string;
  readonly appId: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

/** An action of a signed-in person that needs more than a session. */
export interface ToConfirm {
  /** Exact action: another amount is another action. */
  readonly thing: string;
  /** Description for the mail's reader, in words that no stranger can choose. */
  readonly words: string;
}

export interface Proved {
  readonly token: string;
  readonly expiresAt: Instant;
  readonly developerId: string;
  /** App that this proof registered; null for a mere sign-in, or if another call was faster. */
  readonly registered: string | null;
  /** Stored in this browser for a year: the `known` of its next sign-in. */
  readonly known: string;
}

export interface Person {
  readonly developerId: string;
  readonly email: string;
  readonly provedAt: Instant | null;
}

export interface PendingRegistration {
  readonly appId: string;
  readonly displayName: string;
  readonly settlement: SettlementRequest | null;
  readonly webhookUrl: string | null;
  readonly requestedAt: Instant;
  readonly expiresAt: Instant;
}

/** An app registered by a signed-in person. The secret is new: the requester of the registration knows the first one. */
export interface Confirmed {
  readonly appId: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

export interface Session {
  readonly sessionId: string;
  readonly startedAt: Instant;
  /** Rounded to the minute. */
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  readonly address: string;
  readonly userAgent: string | null;
}

/** All throw Unavailable if Postgres cannot be reached. Refusals are `rateLimited` after too many requests. */
export interface Accounts {
  /** Stores the registration for a day and mails a code that proves it. @returns appIdTaken, registrationClosed, invalidRequest */
  register(request: AccountRegistration, asker: Asker): Promise<Registering | Refusal>;
  /**
   * Mails a code to the owner of any address, who can register apps after entering it. The answer is equal for known and unknown addresses.
   * @returns registrationClosed; invalidRequest for an invalid e-mail address
   */
  begin(email: string, asker: Asker): Promise<Challenge | Refusal>;
  /**
   * Registers an app of a signed-in person, in force when it returns. Repeating it after a crash or Unavailable finishes it.
   * @returns appIdTaken, registrationClosed, invalidRequest with every wrong field
   */
  registerApp(developerId: string, request: AppRequest, by: By): Promise<Pick<Confirmed, 'appId'> | Refusal>;
  /** Mails a code to the address's owner. @returns invalidRequest for an invalid e-mail address */
  ask(email: string, asker: Asker): Promise<Challenge | Refusal>;
  /**
   * Signs in, and carries out the registration that was to be proved. @returns codeWrong while attempts remain; codeExpired: request a new
   * code
   */
  prove(challenge: string, code: string, asker: Asker): Promise<Proved | Refusal>;
  /** Mails a code to a signed-in person, valid for one action only. */
  askToConfirm(developerId: string, asked: ToConfirm, asker: Asker): Promise<Challenge | Refusal>;
  /** Uses the code up. @returns codeWrong while attempts remain; codeExpired, also for a code of another action */
  confirm(developerId: string, challenge: string, code: string, thing: string): Promise<'confirmed' | Refusal>;
  /** Person of a session token; null for a token that is forged, too old, or of a session that was ended on any instance. */
  findSession(token: string): Promise<SignedIn | null>;
  person(developerId: string): Promise<Person | null>;
  pendingRegistrations(developerId: string): Promise<readonly PendingRegistration[]>;
  confirmRegistration(developerId: string, appId: string, by: By): Promise<Confirmed | Refusal>;
  discardRegistration(developerId: string, appId: string): Promise<void>;
  /** Open sessions, newest first. */
  sessions(developerId: string): Promise<readonly Session[]>;
  /** @returns false if the person has no such session */
  endSession(developerId: string, sessionId: string): Promise<boolean>;
  /** Ends all sessions except an optional one. @returns the number of ended sessions */
  endAllSessions(developerId: string, but?: string): Promise<number>;
}

export const badEmail = (): Refusal => refuse('invalidRequest', 'email must be an e-mail address', '/email');

export const noMail = (): Refusal =>
  refuse('forbidden', 'this installation sends no mail: its operator has to set SMTP_URL');

export const registrationClosed = (): Refusal =>
  refuse('registrationClosed', 'nobody can register here: ask the operator for an invitation');

export const codeWrong = (triesLeft: number): Refusal =>
  refuse('codeWrong', `the code is another one: ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}`, '/code');

export const codeExpired = (): Refusal =>
  refuse('codeExpired', 'the code was used, is too old or was tried too often: ask for a new one', '/challenge');

export const appTaken = (appId: string): Refusal =>
  refuse(
    'appIdTaken',
    `${appId} is taken: choose another slug. If you registered it yourself, sign in to confirm it`,
    '/slug',
  );
