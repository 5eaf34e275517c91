import { isRefusal } from '../../domain/decider.ts';
import type { Accounts } from './accounts.ts';
import { createConfirm, createPending } from './carryOut.ts';
import type { AccountsDeps, Step } from './deps.ts';
import { createFreshCode } from './freshCode.ts';
import { findPerson } from './people.ts';
import { createRegister } from './register.ts';
import { dropRegistration } from './registrations.ts';
import { endSessions, runningSessions, seeSession } from './sessions.ts';
import { createAsk, createProve } from './signIn.ts';
import { createDoor } from './signInLimits.ts';

export function createAccounts(deps: AccountsDeps): Accounts {
  const { sql, clock, tokens, observe = () => {} } = deps;
  const door = createDoor(deps);
  const fresh = createFreshCode(deps, door);

  const seen =
    <P extends unknown[], R>(step: Step, act: (...given: P) => Promise<R>) =>
    async (...given: P): Promise<R> => {
      const answer = await act(...given);
      observe(step, isRefusal(answer) ? answer.refused : 'ok');
      return answer;
    };

  return {
    register: seen('register', createRegister(deps, door)),
    ask: seen('ask', createAsk(deps, door)),
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
