/** An operator's work in containers, as in docs/operate/containers.md: commands, backup and restore, change of the master key, monitoring. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Project } from './project.ts';

export interface Typed {
  /** Command after `docker compose exec <service of the tools>`. */
  readonly command: string;
  /** Part of its output that proves success. */
  readonly says: RegExp;
}

/** @param paymentId a payment that is paid out */
export const operatorCommands = (paymentId: string): readonly Typed[] => [
  { command: 'npm run -s merchant -- keys wallet_check', says: /till/ },
  { command: 'npm run -s merchant -- history wallet_check', says: /operator:ada/ },
  { command: 'npm run -s treasury -- show', says: /Base/ },
  { command: 'npm run -s treasury -- pause "maintenance"', says: /'done'/ },
  { command: 'npm run -s treasury -- resume', says: /'done'/ },
  { command: 'npm run -s treasury -- operations', says: /./ },
  { command: 'npm run -s treasury -- books 8453', says: /./ },
  { command: 'npm run -s payouts -- list', says: /./ },
  { command: 'npm run -s refunds -- list', says: /./ },
  { command: 'npm run -s unmatched -- list', says: /./ },
  { command: 'npm run -s work -- list', says: /./ },
  { command: `npm run -s explain -- ${paymentId}`, says: new RegExp(paymentId) },
  { command: 'npm run -s sweep -- 8453', says: /./ },
  { command: 'npm run -s rebuild -- --set work', says: /./ },
  { command: 'npm run -s rebuild -- --set reports', says: /./ },
  {
    command: `node -e "fetch('http://127.0.0.1:3001/readyz').then((a) => a.text()).then(console.log)"`,
    says: /eventStore/,
  },
  { command: 'npm run -s doctor', says: /./ },
  { command: 'npm run -s audit', says: /./ },
];

/** Commands that write files, with a folder of the machine at `/backups`. @param month like `2026-11` */
export const filingCommands = (paymentId: string, month: string): readonly Typed[] => [
  { command: `npm run -s evidence -- ${paymentId} --out /backups/evidence.json`, says: /./ },
  { command: 'npm run -s export -- payments --out /backups/payments-csv', says: /./ },
  { command: `npm run -s report -- --month ${month} --out /backups/report.html`, says: /./ },
  { command: 'npm run -s backup -- /backups/payments --passphrase-file /backups/passphrase', says: /Sealed beside it/ },
];

export interface Tried {
  readonly command: string;
  readonly wrong: string | null;
}

export async function typeAll(
  project: Project,
  commands: readonly Typed[],
  step: (text: string) => void,
): Promise<Tried[]> {
  step('what an operator types:');
  const tried: Tried[] = [];
  for (const { command, says } of commands)
    tried.push(await tryCommand(step, command, says, () => project.exec(project.shape.tools, ...words(command))));
  return tried;
}

/** @param work returns the output */
async function tryCommand(
  step: (text: string) => void,
  command: string,
  says: RegExp,
  work: () => Promise<string>,
): Promise<Tried> {
  const wrong = await work().then(
    (printed) => (says.test(printed) ? null : `it said: ${printed.slice(0, 300)}`),
    (error: Error) => error.message,
  );
  step(`  ${wrong === null ? '✓' : '✗'} ${command}${wrong === null ? '' : `: ${wrong}`}`);
  return { command, wrong };
}

/** Splits like a shell: quotes keep words together. */
export const words = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Registers a wallet app, which may pay anybody, and a merchant whose payouts go to `settlement`. @returns a key for the app's orders */
export async function registerApps(project: Project, settlement: string): Promise<string> {
  const { compose, shape } = project;
  const merchant = (...args: readonly string[]) =>
    compose('exec', '-T', '-e', 'SUDO_USER=ada', shape.tools, 'npm', 'run', '-s', 'merchant', '--', ...args);
  await merchant('register', 'merchant_check');
  await merchant('settle', 'merchant_check', '8453', 'USDC', settlement);
  await merchant('register', 'wallet_check');
  const printed = await merchant('key', 'wallet_check', 'till', '--scope', 'orders');
  const key = /^\W*key\W+(\S+?)'?\s/m.exec(printed)?.[1];
  if (!key) throw new Error('no key was shown');
  return key;
}

/**
 * Writes it to the signer's keystore from standard input: neither an argument nor another file holds it. @throws Error if it prints another
 * address
 */
export async function putKey(project: Project, treasury: string, address: string): Promise<void> {
  const file = '/secrets/treasury.keys';
  const run = ['run', '--rm', '-T', 'keystore'];
  await project.composeWith({ input: treasury }, ...run, 'put', file, 'TREASURY_PRIVATE_KEY');
  const shown = await project.compose(...run, 'public', file);
  if (!shown.includes(`TREASURY_ADDRESS=${address}`)) throw new Error(`the keystore shows another address: ${shown}`);
}

/** The user of the image. */
const user = 1000;

/** A separate container for one command, with ./backups in it. */
const inOne = (project: Project, ...command: readonly string[]): Promise<string> => {
  const mount = `${join(project.directory, 'backups')}:/backups`;
  return project.compose('run', '--rm', '--no-deps', '-v', mount, project.shape.tools, ...command);
};

/** Types the commands that write files. */
export async function typeFiling(
  project: Project,
  commands: readonly Typed[],
  step: (text: string) => void,
): Promise<readonly Tried[]> {
  const folder = join(project.directory, 'backups');
  mkdirSync(folder);
  writeFileSync(join(folder, 'passphrase'), 'a passphrase of the check\n');
  if (process.getuid?.() === 0) chownSync(folder, user, user);
  else chmodSync(folder, 0o777);
  const tried: Tried[] = [];
  for (const { command, says } of commands)
    tried.push(await tryCommand(step, command, says, () => inOne(project, ...words(command))));
  return tried;
}

/** Restores the log from the backup, and the read models from the log. The signer's signatures are on its own volume, which stays. */
export async function restoreStores(project: Project, typed: Tried[], step: (text: string) => void): Promise<void> {
  const { engine, shape } = project;
  await project.down();
  for (const volume of await project.volumes())
    if (!volume.endsWith('_signer-data')) await engine.docker(['volume', 'rm', volume]);
  await project.compose(
    'up',
    '--detach',
    ...(shape.eventStores.length > 0 ? ['eventstore-users'] : ['eventstore']),
    'postgres',
  );
  await project.untilHealthy();
  const command =
    'npm run -s restore -- /backups/payments --secrets-to /backups/restored.env --passphrase-file /backups/passphrase';
  typed.push(await tryCommand(step, command, /./, () => inOne(project, ...words(command))));
  await project.up();
}

const oldFile = 'MASTER_KEY_OLD_FILE=/run/secrets/master_key_old';

/** Changes the master key of a service with a separate signer, which has a log of its own. */
export async function rotateMasterKey(project: Project, typed: Tried[], step: (text: string) => void): Promise<void> {
  const { compose, shape } = project;
  const inSecrets = (script: string) =>
    compose('run', '--rm', '--entrypoint', 'sh', 'prepare', '-c', `cd /secrets && ${script}`);
  await compose('stop', ...shape.services);
  await inSecrets('cp -p service/master_key signer/master_key_old && mv service/master_key service/master_key_old');
  await compose('run', '--rm', 'prepare');
  for (const [service, ...more] of [[shape.tools], ['signer', '--', '--signer']] as const) {
    const command = ['npm', 'run', '-s', 'rotate-master-key', ...more];
    const work = () => compose('run', '--rm', '--no-deps', '-e', oldFile, service, ...command);
    typed.push(await tryCommand(step, `${service}: ${command.join(' ')}`, /^Done/m, work));
  }
  await inSecrets('rm service/master_key_old signer/master_key_old');
  await project.up();
}

const monitoring_ms = 90_000;
const poll_ms = 2_000;

/** The profile `observability`: Prometheus finds both instances, and loads our rules. Grafana is not tried without its image. */
export const checkMonitoring = (project: Project, step: (text: string) => void): Promise<Tried> =>
  tryCommand(step, 'docker compose --profile observability up prometheus', /rules/, async () => {
    const profile = ['--profile', 'observability'];
    await project.compose(...profile, 'up', '--detach', '--no-deps', 'prometheus');
    try {
      return await waitForMonitoring(project, `http://${(await project.compose('port', 'prometheus', '9090')).trim()}`);
    } finally {
      await project.compose(...profile, 'rm', '--stop', '--force', 'prometheus');
    }
  });

/** @throws Error with the current state, if it is not complete in time */
async function waitForMonitoring({ shape }: Project, url: string): Promise<string> {
  for (const since = performance.now(); ; await sleep(poll_ms)) {
    const targets = await askPrometheus<{ activeTargets: readonly { health: string }[] }>(url, 'targets');
    const up = targets?.activeTargets.filter(({ health }) => health === 'up') ?? [];
    const rules = await askPrometheus<{ groups: readonly { rules: readonly { health: string }[] }[] }>(url, 'rules');
    const all = rules?.groups.flatMap((group) => group.rules) ?? [];
    const good = all.filter(({ health }) => health === 'ok');
    const says = `${up.length} of ${shape.ours.length} targets are up, ${good.length} of ${all.length} rules are well`;
    if (up.length === shape.ours.length && all.length > 0 && good.length === all.length) return says;
    if (performance.now() - since > monitoring_ms) throw new Error(`${says}: ${JSON.stringify(targets).slice(0, 500)}`);
  }
}

async function askPrometheus<T>(url: string, what: string): Promise<T | null> {
  const response = await fetch(`${url}/api/v1/${what}`).catch(() => null);
  return response?.ok ? ((await response.json()) as { data: T }).data : null;
}
