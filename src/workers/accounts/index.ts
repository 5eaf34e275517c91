/** Accounts: registration and sign-in, outgoing mail, and deletion of expired rows. */
import { filter } from 'rxjs';
import { Unavailable } from '../../../commands/ports.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { createAccounts, sweep } from '../../accounts/createAccounts.ts';
import { createOutbox, mailsChannel, type Outbox } from '../../accounts/outbox.ts';
import { scryptPasscodes } from '../../accounts/passcodes.ts';
import type { OperatorDeps } from '../../accounts/people.ts';
import { createSigningKeys, createTokens } from '../../accounts/sessions.ts';
import { createSmtp } from '../../accounts/smtp.ts';
import type { Rates } from '../../api/rateLimits.ts';
import type { Core } from '../../core.ts';
import { createFailures } from '../../postgres/failures.ts';
import { randomIds } from '../../process/system.ts';
import { runRoleWorkers } from '../run.ts';
import { mailsWorker } from './notices.ts';

const sweep_ms = 60_000;
const mailsIdle_ms = 30_000;
const inForceRetry_s = 2;

export const openOutbox = ({ database, box, clock }: Pick<Core, 'database' | 'box' | 'clock'>): Outbox =>
  createOutbox({ sql: database, box, clock, ids: randomIds });

export const operatorDeps = (core: Pick<Core, 'database' | 'box' | 'clock'>): OperatorDeps => ({
  sql: core.database,
  outbox: openOutbox(core),
  clock: core.clock,
  ids: randomIds,
});

export function openAccounts(core: Core, rates: Rates): Accounts {
  const { config, writes: sql, box, clock, merchants, projected, caughtUp, crash, telemetry } = core;
  const ids = randomIds;
  return createAccounts({
    sql,
    box,
    clock,
    ids,
    passcodes: scryptPasscodes,
    tokens: createTokens(createSigningKeys({ sql, box, clock, ids }), clock),
    outbox: openOutbox(core),
    limits: rates,
    merchants,
    inForce: async (position) => {
      await (position === null ? caughtUp() : projected(position)).catch((error: unknown) => {
        const message = 'The app is registered, but not in force yet: send the same request again.';
        throw new Unavailable(message, inForceRetry_s, { cause: error });
      });
    },
    registration: config.registration,
    sendsMail: config.mail !== null,
    observe: telemetry.countSignIn,
    crash,
  });
}

/** One instance sends, and one deletes, until the signal aborts. */
export async function runAccounts(core: Core, signal: AbortSignal): Promise<void> {
  await Promise.all([sendMails(core, signal), keepSweeping(core, signal)]);
}

async function sendMails(core: Core, signal: AbortSignal): Promise<void> {
  const { config, database, notifications } = core;
  if (config.mail === null) return;
  const smtp = createSmtp(config.mail);
  const wake = notifications.pipe(filter(({ channel }) => channel === mailsChannel));
  const worker = mailsWorker(openOutbox(core), smtp.send);
  const deps = { ...core, failures: createFailures(database), wake };
  await runRoleWorkers(deps, 'mails', [{ worker, idle_ms: mailsIdle_ms }], signal).finally(smtp.close);
}

const keepSweeping = ({ leases, database, clock, telemetry }: Core, signal: AbortSignal): Promise<void> =>
  leases.hold('accounts', signal, async (held) => {
    while (!held.aborted) {
      await sweep(database, clock.now()).catch((error: unknown) =>
        telemetry.logger.warn({ error: String(error) }, 'what is over in accounts was not removed: tried again'),
      );
      await clock.sleep(sweep_ms, held);
    }
  });
