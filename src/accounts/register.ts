/** Registering an app: it waits beside the log until its owner's e-mail is proved, and holds its id for a day. */
import { isRefusal } from '../../domain/decider.ts';
import { readProfileChange } from '../../domain/merchant/profile.ts';
import type { Accounts } from './accounts.ts';
import { appIdFor } from './appId.ts';
import { type AccountsDeps, mailCode } from './deps.ts';
import { readEmail } from './email.ts';
import { registrationLetter } from './emails.ts';
import { findByEmail, mention } from './people.ts';
import { isWelcome } from './policy.ts';
import { appTaken, badEmail, noMail, registrationClosed } from './refusals.ts';
import { keepRegistration } from './registrations.ts';
import type { Door } from './signInLimits.ts';

/** One transaction keeps person, registration, code and mail. Whoever may not register is answered alike, and gets no code. */
export function createRegister(deps: AccountsDeps, door: Door): Accounts['register'] {
  const { sql, clock, ids, passcodes, merchants, registration: policy } = deps;
  return async (request, asker) => {
    if (policy === 'closed') return registrationClosed();
    const email = readEmail(request.email);
    if (email === undefined) return badEmail();
    const { displayName, webhookUrl, settlement } = request;
    const profile = readProfileChange({ name: displayName });
    if (isRefusal(profile)) return { ...profile, pointer: '/displayName' };
    const appId = appIdFor(request, ids.secret());
    if (isRefusal(appId)) return appId;
    if (!deps.sendsMail) return noMail();
    const known = await findByEmail(sql, email, clock.now());
    const asked = (await door.register(asker)) ?? (await door.askForCode(email, known?.developerId ?? null, asker));
    if (isRefusal(asked)) return asked;
    const prepared = await merchants.prepare(appId, { webhookUrl, settlement });
    if (isRefusal(prepared)) return prepared.refused === 'appIdTaken' ? appTaken(appId) : prepared;
    const { webhookSecret, ...kept } = prepared;
    const { code, ...keptCode } = await passcodes.make(asked.digits);
    const registrationId = ids.eventId();
    return sql.transaction(async (tx) => {
      const now = clock.now();
      const person = await mention(tx, email, ids.eventId(), now);
      const { developerId } = person;
      if (!(await keepRegistration(tx, { ...kept, registrationId, appId, developerId, displayName }, now))) {
        return appTaken(appId);
      }
      const letter = registrationLetter(code, asker.address);
      const to = isWelcome(policy, person) ? person : null;
      const asked = await mailCode(deps, tx, { to, registrationId, kept: keptCode, letter });
      const shown = { webhookSecret, webhookSecretFingerprint: kept.secret.fingerprint };
      return { developerId, appId, webhookUrl: kept.webhookUrl, ...shown, ...asked };
    });
  };
}
