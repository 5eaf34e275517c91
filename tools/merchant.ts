/** `npm run merchant -- …`: for operators: registers apps, sets their wallets and webhooks, issues and revokes keys. */

import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { StatedRoute } from '../commands/appTerms.ts';
import { eventCodec } from '../commands/codec.ts';
import { readStream } from '../commands/handle.ts';
import type { ManageMerchant } from '../commands/manageMerchant.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { type KeyScope, keyScopes } from '../domain/merchant/events.ts';
import { overVerdicts, type StatedPolicy, type Verdict, verdicts } from '../domain/payment/amountPolicy.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import { type AppAuditDeps, listChanges, listKeys } from '../queries/merchantAudit.ts';
import { erase, invite, welcome } from '../src/accounts/people.ts';
import type { Core } from '../src/core.ts';
import { operatorDeps } from '../src/workers/accounts/index.ts';
import { withCore } from './connections.ts';
import { print, printTable } from './print.ts';
import { addExamples, chainNames, namedChain, operator, runProgram } from './program.ts';

/** Runs one command and prints its answer. */
export type Run = (command: (merchants: ManageMerchant) => Promise<object | Refusal>) => Promise<void>;

interface PolicyOptions {
  readonly toleranceBp?: number;
  readonly toleranceMost?: string;
  readonly under?: Verdict;
  readonly over?: 'hold' | 'refund';
  readonly late?: Verdict;
  readonly lateWithin?: number;
  readonly wrongToken?: Verdict;
  readonly wrongChain?: Verdict;
}

const whole = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('Use a whole number.');
  return Number(text);
};

const verdict = (flag: string, about: string, choices: readonly string[] = verdicts) =>
  new Option(`${flag} <verdict>`, about).choices([...choices]);

/** Basis points alone, or a sum alone, would forgive nothing: the command refuses them. */
function policyOf({ toleranceBp, toleranceMost, lateWithin, ...said }: PolicyOptions): StatedPolicy {
  const forgives = toleranceBp !== undefined || toleranceMost !== undefined;
  return {
    ...said,
    ...(forgives && { tolerance: { basisPoints: toleranceBp ?? 0, most: toleranceMost ?? '0' } }),
    ...(lateWithin !== undefined && { lateWithinMinutes: lateWithin }),
  };
}

interface FeeOptions extends StatedRoute {
  readonly fixed: string;
  readonly bp: number;
  readonly belowCost?: boolean;
}

/** Adds `policy` and `fee`: the policy for wrong amounts, and an app's fees. */
export function addTerms(program: Command, run: Run): void {
  program
    .command('policy <appId>')
    .description('Set the policy of new payments for other amounts. Omitted rules hold the money.')
    .option('--tolerance-bp <basisPoints>', 'Maximum accepted shortfall, in basis points of the amount', whole)
    .option('--tolerance-most <dollars>', 'Maximum shortfall in dollars; both limits apply')
    .addOption(verdict('--under', 'Verdict on too little money when the payment window ends'))
    .addOption(verdict('--over', 'Verdict on too much money', overVerdicts))
    .addOption(verdict('--late', 'Verdict on late money'))
    .option('--late-within <minutes>', 'Minutes after the end in which late money is accepted', whole)
    .addOption(verdict('--wrong-token', 'Verdict on another token on the right chain'))
    .addOption(verdict('--wrong-chain', 'Verdict on money at the right address on another chain'))
    .action((appId: string, options: PolicyOptions) => run((m) => m.setPolicy(appId, policyOf(options), operator())));

  const route = (command: Command) =>
    command
      .option('--from <chain>', 'Chain of the payin; default: every chain')
      .option('--to <chain>', 'Chain of the payout; default: every chain');
  route(program.command('fee <appId>'))
    .description('Set the app’s fee for a route of new payments. A payout that costs more raises the fixed part.')
    .requiredOption('--fixed <dollars>', 'Fixed fee of each payment, in dollars')
    .requiredOption('--bp <basisPoints>', 'Share of the amount, in basis points', whole)
    .option('--below-cost', 'Allow a fee below the payout’s cost for payments that the app’s own key creates')
    .action((appId: string, { from, to, fixed, bp, belowCost = false }: FeeOptions) =>
      run((m) => m.setFee(appId, { from, to, fixed, basisPoints: bp, belowCost }, operator())),
    );
  route(program.command('remove-fee <appId>'))
    .description('Remove the app’s fee for a route. The next more general fee applies.')
    .action((appId: string, stated: StatedRoute) => run((m) => m.removeFee(appId, stated, operator())));
}

function must<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) throw new Error(`${answer.refused}: ${answer.message}`);
  return answer;
}

async function inviteOne(core: Core, email: string): Promise<void> {
  const { config } = core;
  const url = config.publicUrl === null ? null : `${config.publicUrl}/dashboard/register`;
  const person = must(await invite(operatorDeps(core), email, url));
  print(`${person.email} is invited to register and sign in. ${mailed(config)}`);
  if (config.registration === 'closed') print('REGISTRATION is closed: set it to invited, or nobody can register.');
}

const mailed = ({ mail }: Core['config']): string =>
  mail === null ? 'No mail is sent: SMTP_URL is not set.' : 'An instance with the role api sends the mail.';

async function giveApp(core: Core, appId: string, email: string): Promise<void> {
  const { developerId } = must(await welcome(operatorDeps(core), email));
  must(await core.merchants.setOwner(appId, developerId, operator()));
  print(`${appId} belongs to ${email}, who can sign in.`);
}

async function eraseOne(core: Core, email: string): Promise<void> {
  const { apps } = must(await erase({ sql: core.database }, email));
  print('The person is deleted, with sessions, registrations and mail.');
  if (apps.length > 0) {
    print(`These apps continue without an owner and show no name: ${apps.join(', ')}.`);
    print('Their keys and wallets stay valid: revoke or change them, or give the apps to another owner.');
  }
}

/** Adds the commands about people: who is allowed to register, who owns an app, whose data is erased. */
export function addPeople(program: Command): void {
  program
    .command('invite <email>')
    .description('Invite a person to register and sign in. Sends a mail.')
    .action((email: string) => withCore((core) => inviteOne(core, email)));
  program
    .command('owner <appId> <email>')
    .description('Make a person the owner of an app.')
    .action((appId: string, email: string) => withCore((core) => giveApp(core, appId, email)));
  program
    .command('erase <email>')
    .description('Delete a person. The event log, which has no names, stays complete.')
    .action((email: string) => withCore((core) => eraseOne(core, email)));
}

/** Runs one command against the stores and prints its answer; secrets are printed here once and never again. */
async function run(command: (merchants: ManageMerchant) => Promise<object | Refusal>): Promise<void> {
  const answer = await withCore(({ merchants }) => command(merchants));
  if (isRefusal(answer)) throw new Error(`${answer.refused}: ${answer.message}`);
  const shown = Object.entries(answer).filter(([name, value]) => name !== 'position' && value !== null);
  if (shown.length === 0) print('Done.');
  else printTable(Object.fromEntries(shown.map(([name, value]) => [name, { value }])));
}

/** Prints a table from the app's stream. */
async function show(list: (deps: AppAuditDeps) => Promise<readonly object[] | null>): Promise<void> {
  const rows = await withCore(({ store }) =>
    list({ history: (stream) => readStream(store, stream), read: eventCodec.read }),
  );
  if (rows === null) throw new Error('no app has this id');
  if (rows.length === 0) return print('None.');
  printTable(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')]))),
  );
}

function chainId(text: string) {
  const chain = namedChain(text);
  if (!chain) throw new Error(`${text} is not a known chain: use one of ${chainNames()}`);
  return chain.id;
}

function time(text: string): Instant {
  const at = parseInstant(text);
  if (!at) throw new Error(`${text} is not a time: use ISO 8601 with an offset, such as 2027-01-31T00:00:00Z`);
  return at;
}

const program = new Command('npm run merchant --').description(
  'Manages apps (merchant_<slug>, wallet_<slug>), their keys and their owners.',
);

program
  .command('register <appId>')
  .description('Register an app. Prints its webhook secret once.')
  .option('--webhook <url>', 'Webhook URL; starts with https://')
  .action((appId: string, options: { webhook?: string }) =>
    run((m) => m.register(appId, { webhookUrl: options.webhook ?? null }, operator())),
  );

program
  .command('settle <appId> <chain> <token> <address>')
  .description('Set the settlement wallet of a merchant_ app.')
  .option('--memo <memo>', 'Memo of the receiver, if the chain has memos')
  .action((appId: string, chain: string, tokenSymbol: string, receiverAddress: string, options: { memo?: string }) =>
    run((m) =>
      m.setSettlement(
        appId,
        { chainId: chainId(chain), tokenSymbol, receiverAddress, receiverMemo: options.memo ?? null },
        operator(),
      ),
    ),
  );

interface Branding {
  readonly name?: string;
  readonly contact?: string;
  readonly returnUrl?: string;
  readonly colour?: string;
  readonly logo?: string;
}

/** An empty text unsets a field. */
const given = (field: string, text: string | undefined) => (text === undefined ? {} : { [field]: text || null });

async function brand(m: ManageMerchant, appId: string, shown: Branding): Promise<object | Refusal> {
  const { name, contact, returnUrl, colour, logo } = shown;
  const change = {
    ...given('name', name),
    ...given('supportContact', contact),
    ...given('returnUrlTemplate', returnUrl),
    ...given('colour', colour),
  };
  const changed = await m.setProfile(appId, change, operator());
  if (isRefusal(changed) || logo === undefined) return changed;
  return m.setLogo(appId, logo === '' ? null : await readFile(logo), operator());
}

program
  .command('profile <appId>')
  .description('Change the profile of an app. An empty text removes a value.')
  .option('--name <name>', 'Name that payers read')
  .option('--contact <contact>', 'Support contact: an e-mail address or an https URL')
  .option(
    '--return-url <template>',
    'Return URL; starts with https://, can contain {paymentId}, {orderId} and {status} after the host',
  )
  .option('--colour <colour>', 'Colour of the payment page: #rrggbb')
  .option('--logo <file>', 'PNG, JPEG or WebP file')
  .action((appId: string, shown: Branding) => run((m) => brand(m, appId, shown)));

program
  .command('webhook <appId> [url]')
  .description('Set the webhook URL of new payments, or remove it if no URL is given.')
  .action((appId: string, url?: string) => run((m) => m.setWebhookUrl(appId, url ?? null, operator())));

program
  .command('webhook-types <appId> [types...]')
  .description('Set the webhook types that an app gets besides the first two. Without a type, only those.')
  .action((appId: string, types: string[]) => run((m) => m.setWebhookTypes(appId, types, operator())));

program
  .command('embed <appId> [sites...]')
  .description('Set the sites that can embed payment pages. Without a site, embedding is off.')
  .action((appId: string, sites: string[]) => run((m) => m.setEmbeddingSites(appId, sites, operator())));

program
  .command('rotate <appId>')
  .description('Create a new webhook secret. The old secret stops at once.')
  .action((appId: string) => run((m) => m.rotateSecret(appId, operator())));

program
  .command('key <appId> <name>')
  .description('Issue an API key. Prints it once.')
  .addOption(new Option('--scope <scope>', 'Permissions of the key').choices([...keyScopes]).default('orders'))
  .option('--expires <time>', 'End of validity: ISO 8601 with an offset, such as 2027-01-31T00:00:00Z')
  .action((appId: string, name: string, options: { scope: KeyScope; expires?: string }) =>
    run((m) =>
      m.issueKey(
        appId,
        { scope: options.scope, name, expiresAt: options.expires ? time(options.expires) : null },
        operator(),
      ),
    ),
  );

program
  .command('rename <appId> <keyId> <name>')
  .description('Rename an API key.')
  .action((appId: string, keyId: string, name: string) => run((m) => m.renameKey(appId, keyId, name, operator())));

program
  .command('keys <appId>')
  .description('List the API keys of an app, revoked ones included.')
  .action((appId: string) => show((log) => listKeys(log, appId)));

program
  .command('history <appId>')
  .description('List all changes of an app and its keys, with author and time.')
  .action((appId: string) => show((log) => listChanges(log, appId)));

program
  .command('revoke <appId> <keyId>')
  .description('Revoke an API key. "Done." means that no instance accepts it.')
  .action((appId: string, keyId: string) => run((m) => m.revokeKey(appId, keyId, operator())));

program
  .command('keyless <appId> <onOrOff>')
  .description('Allow or forbid payments without a key for a wallet_ app.')
  .action((appId: string, onOrOff: string) => run((m) => m.setKeylessCreation(appId, onOrOff === 'on', operator())));

addTerms(program, run);
addPeople(program);

addExamples(program, {
  register: 'merchant_tea --webhook https://tea.example.com/hooks',
  settle: 'merchant_tea 8453 USDC 0x108384d66E8790b0e4021407102679E1CeDF7D3b',
  profile: 'merchant_tea --name "Tea House" --contact help@tea.example.com',
  webhook: 'merchant_tea https://tea.example.com/hooks',
  'webhook-types': 'merchant_tea payment_held payment_refunded',
  embed: 'merchant_tea https://tea.example.com',
  rotate: 'merchant_tea',
  key: 'merchant_tea shop --scope orders',
  rename: 'merchant_tea KEY_ID checkout',
  keys: 'merchant_tea',
  history: 'merchant_tea',
  revoke: 'merchant_tea KEY_ID',
  keyless: 'wallet_demo on',
  policy: 'merchant_tea --tolerance-bp 50 --tolerance-most 1 --over refund',
  fee: 'merchant_tea --fixed 0.01 --bp 10 --from 8453',
  'remove-fee': 'merchant_tea --from 8453',
  invite: 'ann@example.com',
  owner: 'merchant_tea ann@example.com',
  erase: 'ann@example.com',
});

await runProgram(() => program.parseAsync());
