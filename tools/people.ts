/** The operator's part of `npm run merchant` that is about people: who may register, who owns an app, who is forgotten. */
import type { Command } from 'commander';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { erase, invite, welcome } from '../src/accounts/operator.ts';
import type { Core } from '../src/core.ts';
import { operatorDeps } from '../src/workers/accounts/index.ts';
import { withCore } from './core.ts';
import { operator } from './operator.ts';
import { print } from './print.ts';

function must<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) throw new Error(`${answer.refused}: ${answer.message}`);
  return answer;
}

async function inviteOne(core: Core, email: string): Promise<void> {
  const { config } = core;
  const url = config.publicUrl === null ? null : `${config.publicUrl}/dashboard/register`;
  const person = must(await invite(operatorDeps(core), email, url));
  print(`${person.email} may register and sign in. ${mailed(config)}`);
  if (config.registration === 'closed') print('REGISTRATION is closed: set it to invited, else nobody registers.');
}

const mailed = ({ mail }: Core['config']): string =>
  mail === null ? 'No mail is sent: SMTP_URL is not set.' : 'A mail is on its way, sent by an instance with role api.';

async function giveApp(core: Core, appId: string, email: string): Promise<void> {
  const { developerId } = must(await welcome(operatorDeps(core), email));
  must(await core.merchants.setOwner(appId, developerId, operator()));
  print(`${appId} belongs to ${email}, who may sign in.`);
}

async function eraseOne(core: Core, email: string): Promise<void> {
  const { apps } = must(await erase({ sql: core.database }, email));
  print('The person is erased, with sessions, registrations and mail.');
  if (apps.length > 0) {
    print(`These apps go on without a person and show no name: ${apps.join(', ')}.`);
    print('Their keys and wallets work on: revoke and change what should not, or give them to somebody.');
  }
}

export function addPeople(program: Command): void {
  program
    .command('invite <email>')
    .description('let a person register and sign in; a mail says so')
    .action((email: string) => withCore((core) => inviteOne(core, email)));
  program
    .command('owner <appId> <email>')
    .description('make a person the owner of an app')
    .action((appId: string, email: string) => withCore((core) => giveApp(core, appId, email)));
  program
    .command('erase <email>')
    .description('forget a person: the event log, which knows no names, stays whole')
    .action((email: string) => withCore((core) => eraseOne(core, email)));
}
