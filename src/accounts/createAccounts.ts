import { isRefusal, refusedTogether } from '../../domain/decider.ts';
import { readProfileChange } from '../../domain/merchant/profile.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { type Accounts, appTaken, badEmail, noMail, registrationClosed } from './accounts.ts';
import { createConfirm, createPending } from './carryOut.ts';
import { type AccountsDeps, type CodeStep, isWelcome, mailCode } from './deps.ts';
import { beginningEmail, readEmail } from './emails.ts';
import { findByEmail, findPerson, mention, unproved_ms } from './people.ts';
import {
  appIdFor,
  createRegister,
  dropRegistration,
  keepRegistration,
  registrationsOf,
  type StoredRegistration,
} from './register.ts';
import { endSessions, runningSessions, seeSession, sessionIdle_ms, sessionLife_ms, signsFor_ms } from './sessions.ts';
import { createAsk, createFreshCode, createProve } from './signIn.ts';
import { createSignInLimits, type SignInLimits } from './signInLimits.ts';

export function createAccounts(deps: AccountsDeps): Accounts {
  const { sql, clock, tokens, observe = () => {} } = deps;
  const signInLimits = createSignInLimits(deps);
  const fresh = createFreshCode(deps, signInLimits);

  const seen =
    <P extends unknown[], R>(step: CodeStep, act: (...given: P) => Promise<R>) =>
    async (...given: P): Promise<R> => {
      const answer = await act(...given);
      observe(step, isRefusal(answer) ? answer.refused : 'ok');
      return answer;
    };

  return {
    register: seen('register', createRegister(deps, signInLimits)),
    begin: seen('begin', createBegin(deps, signInLimits)),
    registerApp: createRegisterApp(deps, signInLimits),
    ask: seen('ask', createAsk(deps, signInLimits)),
    prove: seen('prove', createProve(deps)),
    askToConfirm: seen('askToConfirm', fresh.askToConfirm),
    confirm: seen('confirm', fresh.confirm),
    async findSession(token) {
      const session = await tokens.read(token);
      return session && (await seeSession(sql, session, clock.now())) ? session : null;
    },
    person: (developerId) => findPerson(sql, developerId),
    pendingRegistrations: createPending(deps),
    confirmRegistration: createConfirm(deps),
    discardRegistration: (developerId, appId) => dropRegistration(sql, developerId, appId),
    sessions: (developerId) => runningSessions(sql, developerId, clock.now()),
    endSession: async (developerId, only) => (await endSessions(sql, developerId, { only })) > 0,
    endAllSessions: (developerId, but) => endSessions(sql, developerId, { but: but ?? null }),
  };
}

/** Deletes expired rows. The timing does not matter: readers of these rows check their times themselves. */
export async function sweep(sql: Sql, now: Instant): Promise<void> {
  await sql.query('DELETE FROM ops.challenges WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.registrations WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.mails WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.sessions WHERE expires_at <= $1 OR seen_at <= $2', [
    now,
    plus(now, -sessionIdle_ms),
  ]);
  await sql.query(
    `DELETE FROM ops.people WHERE proved_at IS NULL AND invited_at IS NULL AND mentioned_at <= $1
       AND (joins_until IS NULL OR joins_until <= $2)`,
    [plus(now, -unproved_ms), now],
  );
  await sql.query('DELETE FROM ops.signing_keys WHERE created_at <= $1', [
    plus(now, -signsFor_ms - sessionLife_ms - hour_ms),
  ]);
}

// Registration step by step: a code proves the e-mail address, then the signed-in person registers an app.

/** A person who may not register gets the same answer, with the same work, and no code. */
function createBegin(deps: AccountsDeps, signInLimits: SignInLimits): Accounts['begin'] {
  const { sql, clock, ids, passcodes, registration: policy } = deps;
  return async (text, asker) => {
    if (policy === 'closed') return registrationClosed();
    const email = readEmail(text);
    if (email === undefined) return badEmail();
    if (!deps.sendsMail) return noMail();
    const known = await findByEmail(sql, email, clock.now());
    const asked =
      (await signInLimits.register(asker)) ?? (await signInLimits.askForCode(email, known?.developerId ?? null, asker));
    if (isRefusal(asked)) return asked;
    const { code, ...kept } = await passcodes.make(asked.digits);
    const letter = beginningEmail(code, asker.address);
    return sql.transaction(async (tx) => {
      const person = await mention(tx, email, ids.eventId(), clock.now());
      const to = isWelcome(policy, person) ? person : null;
      return mailCode(deps, tx, { to, registrationId: null, kept, letter });
    });
  };
}

/**
 * The id is reserved like that of an unproved registration, and confirmed at once. Crash in between: the registration waits among the
 * person's pending ones, and the same request finishes it.
 */
function createRegisterApp(deps: AccountsDeps, signInLimits: SignInLimits): Accounts['registerApp'] {
  const { sql, clock, ids, merchants, registration: policy } = deps;
  const confirm = createConfirm(deps);
  return async (developerId, request, by) => {
    if (policy === 'closed') return registrationClosed();
    const { displayName } = request;
    const profile = readProfileChange({ name: displayName });
    const name = isRefusal(profile) ? { ...profile, pointer: '/displayName' } : displayName;
    const appId = appIdFor(request, ids.secret());
    const wrong = refusedTogether([name, appId].filter(isRefusal));
    if (wrong || isRefusal(appId)) return wrong ?? appTaken(String(appId));
    // Counted per person: their network address is no secret and may change.
    const limited = await signInLimits.register({ address: developerId, userAgent: null, known: null });
    if (limited) return limited;
    const now = clock.now();
    const pending = (await registrationsOf(sql, developerId, now)).find((each) => each.appId === appId);
    if (!pending || !isBare(pending, displayName)) {
      // Anybody can register with this person's address: this code never uses the wallet and the webhook of such a registration.
      if (pending) await dropRegistration(sql, developerId, appId);
      const prepared = await merchants.prepare(appId, { webhookUrl: null, settlement: null });
      if (isRefusal(prepared)) return prepared.refused === 'appIdTaken' ? appTaken(appId) : prepared;
      const { webhookSecret: _, ...kept } = prepared;
      const registration = { ...kept, registrationId: ids.eventId(), appId, developerId, displayName };
      if (!(await keepRegistration(sql, registration, now))) return appTaken(appId);
    }
    const confirmed = await confirm(developerId, appId, by);
    return isRefusal(confirmed) ? confirmed : { appId };
  };
}

/** True for a registration with the values of this form. */
const isBare = (pending: StoredRegistration, displayName: string): boolean =>
  pending.displayName === displayName && pending.settlement === null && pending.webhookUrl === null;
