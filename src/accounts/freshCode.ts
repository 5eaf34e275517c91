/**
 * A code that is mailed to somebody who has signed in, for one thing that is to be done: who holds a session alone cannot do it, and the
 * code does nothing else, neither sign in nor the same with another amount.
 */
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { Accounts } from './accounts.ts';
import { takeTry, useUp } from './challenges.ts';
import { type AccountsDeps, mailCode } from './deps.ts';
import { confirmLetter } from './emails.ts';
import { isPasscode } from './passcodes.ts';
import { findByEmail, findPerson } from './people.ts';
import { codeExpired, codeWrong, noMail } from './refusals.ts';
import type { Door } from './signInLimits.ts';

/** What is kept of a challenge follows from the thing as well. */
const boundTo = (challenge: string, thing: string): string => `${challenge} ${thing}`;

export function createFreshCode(deps: AccountsDeps, door: Door): Pick<Accounts, 'askToConfirm' | 'confirm'> {
  const { sql, clock, passcodes } = deps;
  return {
    async askToConfirm(developerId, { thing, words }, asker) {
      if (!deps.sendsMail) return noMail();
      const person = await findPerson(sql, developerId);
      const to = person && (await findByEmail(sql, person.email, clock.now()));
      if (!to) return notSignedIn;
      const asked = await door.askForCode(person.email, developerId, asker);
      if (isRefusal(asked)) return asked;
      const { code, ...kept } = await passcodes.make(asked.digits);
      const letter = confirmLetter(code, words, asker.address);
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
