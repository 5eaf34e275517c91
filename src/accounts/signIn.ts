/** Sign-in: a code is mailed to the address's owner, and proves the address once. */
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { hour_ms, plus } from '../../domain/time.ts';
import { type Accounts, type Asker, badEmail, codeExpired, codeWrong, noMail, type Proved } from './accounts.ts';
import { type CarriedOut, carryOut } from './carryOut.ts';
import { type AccountsDeps, canSignIn, mailCode } from './deps.ts';
import { confirmationEmail, newBrowserEmail, readEmail, signInEmail } from './emails.ts';
import { isPasscode, type Tried, takeTry, useUp } from './passcodes.ts';
import { findByEmail, findPerson, noteProof } from './people.ts';
import { dropRegistration } from './register.ts';
import { sessionLife_ms, startSession } from './sessions.ts';
import { type KnownBrowser, knownText, readKnown, type SignInLimits } from './signInLimits.ts';

const noticeLife_ms = 24 * hour_ms;

/** Any caller and any address get the same checks, the same work and the same answer. */
export function createAsk(deps: AccountsDeps, signInLimits: SignInLimits): Accounts['ask'] {
  const { sql, clock, passcodes, registration } = deps;
  return async (text, asker) => {
    const email = readEmail(text);
    if (email === undefined) return badEmail();
    if (!deps.sendsMail) return noMail();
    const person = await findByEmail(sql, email, clock.now());
    const asked = await signInLimits.askForCode(email, person?.developerId ?? null, asker);
    if (isRefusal(asked)) return asked;
    const { code, ...kept } = await passcodes.make(asked.digits);
    const letter = signInEmail(code, asker.address);
    const to = canSignIn(registration, person, clock.now()) ? person : null;
    return sql.transaction((tx) => mailCode(deps, tx, { to, registrationId: null, kept, letter }));
  };
}

/**
 * The code stays valid until the session exists: after an interruption it can be sent again, and no action is repeated. Crash after the
 * proof is recorded: nothing else has happened. Crash after the app is registered: it has its owner, and the code still signs in.
 */
export function createProve(deps: AccountsDeps): Accounts['prove'] {
  const { sql, clock, passcodes, crash = () => {} } = deps;
  return async (challenge, code, asker) => {
    if (!isPasscode(code)) return refuse('invalidRequest', 'code must be the six or eight digits of the mail', '/code');
    const tried = await takeTry(sql, challenge, clock.now());
    if (!tried) return codeExpired();
    const { developerId, triesLeft, registrationId } = tried;
    const right = await passcodes.matches(code, tried);
    if (!right || developerId === null) return triesLeft > 0 ? codeWrong(triesLeft) : codeExpired();
    const before = await findPerson(sql, developerId);
    if (!before) return codeExpired();
    await noteProof(sql, developerId, clock.now());
    await crash('proof.noted');
    const done = registrationId === null ? null : await carryOut(deps, registrationId);
    await crash('proof.registered');
    // Before the code is used up: after a 503 the same code finds the app registered.
    if (done?.registered) await deps.inForce(done.position);
    const proved = await begin(deps, { ...tried, developerId }, done, asker, before.provedAt !== null);
    return proved;
  };
}

/** Starts the session in the transaction that uses the code up: of two concurrent calls, one is refused because the code is used. */
async function begin(
  deps: AccountsDeps,
  { digest, developerId }: Tried & { readonly developerId: string },
  done: CarriedOut | null,
  asker: Asker,
  wasProved: boolean,
): Promise<Proved | Refusal> {
  const { sql, clock, ids, tokens, outbox, box } = deps;
  const now = clock.now();
  const session = { developerId, sessionId: ids.eventId() };
  const expiresAt = plus(now, sessionLife_ms);
  const token = await tokens.issue(session, expiresAt);
  const mine = ofPerson(readKnown(box, asker.known, now), developerId);
  const begun = await sql.transaction(async (tx) => {
    if (!(await useUp(tx, digest))) return false;
    if (done?.over) await dropRegistration(tx, developerId, done.appId);
    await startSession(tx, session, asker, now);
    const person = await findPerson(tx, developerId);
    if (person && wasProved && !mine) {
      await outbox.put(tx, { ...newBrowserEmail(asker.address), to: person, life_ms: noticeLife_ms });
    }
    return true;
  });
  if (!begun) return codeExpired();
  const known = knownText(box, { developerId, browserId: mine?.browserId ?? ids.eventId(), since: now });
  return { token, expiresAt, developerId, registered: done?.registered ? done.appId : null, known };
}

const ofPerson = (browser: KnownBrowser | null, developerId: string): KnownBrowser | null =>
  browser?.developerId === developerId ? browser : null;

// A code mailed to a signed-in person for one action: a session alone cannot confirm it, and the code is valid for nothing else, neither
// sign-in nor another amount.

/** Key of a challenge, which includes the action. */
const boundTo = (challenge: string, thing: string): string => `${challenge} ${thing}`;

export function createFreshCode(
  deps: AccountsDeps,
  signInLimits: SignInLimits,
): Pick<Accounts, 'askToConfirm' | 'confirm'> {
  const { sql, clock, passcodes } = deps;
  return {
    async askToConfirm(developerId, { thing, words, ...wording }, asker) {
      if (!deps.sendsMail) return noMail();
      const person = await findPerson(sql, developerId);
      const to = person && (await findByEmail(sql, person.email, clock.now()));
      if (!to) return notSignedIn;
      const asked = await signInLimits.askForCode(person.email, developerId, asker);
      if (isRefusal(asked)) return asked;
      const { code, ...kept } = await passcodes.make(asked.digits);
      const letter = confirmationEmail(code, { words, ...wording }, asker.address);
      return sql.transaction((tx) =>
        mailCode(deps, tx, { to, registrationId: null, kept, letter, bind: (challenge) => boundTo(challenge, thing) }),
      );
    },

    async confirm(developerId, challenge, code, thing) {
      if (!isPasscode(code)) return refuse('invalidRequest', 'must be the six or eight digits of the mail', '/code');
      const tried = await takeTry(sql, boundTo(challenge, thing), clock.now());
      if (!tried || tried.developerId !== developerId) return codeExpired();
      if (!(await passcodes.matches(code, tried)))
        return tried.triesLeft > 0 ? codeWrong(tried.triesLeft) : codeExpired();
      return (await useUp(sql, tried.digest)) ? 'confirmed' : codeExpired();
    },
  };
}

const notSignedIn: Refusal = refuse('forbidden', 'sign in once more: nobody is known by this session');
