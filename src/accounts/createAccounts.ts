import { isRefusal } from '../../domain/decider.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Accounts } from './accounts.ts';
import { createBegin, createRegisterApp } from './begin.ts';
import { createConfirm, createPending } from './carryOut.ts';
import type { AccountsDeps, CodeStep } from './deps.ts';
import { findPerson, unproved_ms } from './people.ts';
import { createRegister, dropRegistration } from './register.ts';
import { endSessions, runningSessions, seeSession, sessionIdle_ms, sessionLife_ms } from './sessions.ts';
import { createAsk, createFreshCode, createProve } from './signIn.ts';
import { createSignInLimits } from './signInLimits.ts';
import { signsFor_ms } from './signingKeys.ts';

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
  await sql.query('DELETE FROM ops.people WHERE proved_at IS NULL AND invited_at IS NULL AND mentioned_at <= $1', [
    plus(now, -unproved_ms),
  ]);
  await sql.query('DELETE FROM ops.signing_keys WHERE created_at <= $1', [
    plus(now, -signsFor_ms - sessionLife_ms - hour_ms),
  ]);
}
