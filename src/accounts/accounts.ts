/** People who own apps: how they register, prove their e-mail and sign in. Their addresses and names stay here; events know ids alone. */
import type { By } from '../../commands/handle.ts';
import type { SettlementRequest } from '../../commands/manageMerchant.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import type { AppKind } from '../../domain/merchant/app.ts';
import type { Instant } from '../../domain/time.ts';

/** Somebody who has signed in. */
export interface SignedIn {
  readonly developerId: string;
  readonly sessionId: string;
}

/** Who asks, before anybody has signed in. */
export interface Asker {
  /** What the limits of strangers count: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
  readonly userAgent: string | null;
  /** What `prove` gave this browser when it last signed in. It has limits of its own, which nobody else can use up. */
  readonly known: string | null;
}

export interface RegistrationRequest {
  readonly email: string;
  /** Of the app, as payers will see it. */
  readonly displayName: string;
  readonly kind: AppKind;
  /** The app becomes `<kind>_<slug>`; null: one is made from the display name. */
  readonly slug: string | null;
  readonly settlement: SettlementRequest | null;
  readonly webhookUrl: string | null;
}

/** A code was mailed, if there is somebody to mail it to: the answer is the same either way. */
export interface Challenge {
  /** 256 random bits. Only who holds them can use the code: a browser keeps them in a cookie. */
  readonly challenge: string;
  readonly expiresAt: Instant;
}

/** Waits for its proof; service reference 2.8. The secret is displayed once. */
export interface Registering extends Challenge {
  readonly developerId: string;
  readonly appId: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

/** Something that a signed-in person wants done and that a session alone may not do. */
export interface ToConfirm {
  /** Exactly what: another amount is another thing. */
  readonly thing: string;
  /** The same for whoever reads the mail; of words that no stranger can choose. */
  readonly words: string;
}

export interface Proved {
  readonly token: string;
  readonly expiresAt: Instant;
  readonly developerId: string;
  /** The app that was registered by this proof; null when it was only to sign in, or when somebody was faster. */
  readonly registered: string | null;
  /** For this browser to keep, a year long: the `known` of its next sign-in. */
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

/** An app registered by somebody who had signed in. The secret is a new one: whoever asked for the registration knows the first. */
export interface Confirmed {
  readonly appId: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

export interface Session {
  readonly sessionId: string;
  readonly startedAt: Instant;
  /** To the minute. */
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  readonly address: string;
  readonly userAgent: string | null;
}

/** All throw Unavailable when Postgres cannot be asked. Refusals say `rateLimited` to whoever asks too often. */
export interface Accounts {
  /** Keeps the registration for a day and mails a code that proves it. @returns appIdTaken, registrationClosed, invalidRequest */
  register(request: RegistrationRequest, asker: Asker): Promise<Registering | Refusal>;
  /** Mails a code to whoever the address is of. @returns invalidRequest for what is no e-mail address */
  ask(email: string, asker: Asker): Promise<Challenge | Refusal>;
  /** Signs in, and registers what was to be proved. @returns codeWrong while there are tries left; codeExpired: ask for a new one */
  prove(challenge: string, code: string, asker: Asker): Promise<Proved | Refusal>;
  /** Mails a code to somebody who has signed in, good for one thing alone. */
  askToConfirm(developerId: string, asked: ToConfirm, asker: Asker): Promise<Challenge | Refusal>;
  /** Once: the code is used up. @returns codeWrong while there are tries left; codeExpired, also for a code that was mailed for another thing */
  confirm(developerId: string, challenge: string, code: string, thing: string): Promise<'confirmed' | Refusal>;
  /** Whose session a token is of; null for one that is forged, too old, or of a session that has ended, wherever it was ended. */
  findSession(token: string): Promise<SignedIn | null>;
  person(developerId: string): Promise<Person | null>;
  pendingRegistrations(developerId: string): Promise<readonly PendingRegistration[]>;
  confirmRegistration(developerId: string, appId: string, by: By): Promise<Confirmed | Refusal>;
  discardRegistration(developerId: string, appId: string): Promise<void>;
  /** Those that are not over, newest first. */
  sessions(developerId: string): Promise<readonly Session[]>;
  /** @returns false when the person has no such session */
  endSession(developerId: string, sessionId: string): Promise<boolean>;
  /** Ends all but, when it is given, one. @returns how many */
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
