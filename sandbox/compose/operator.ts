/** An operator's commands in containers. */
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
    tried.push(await tellTried(step, command, says, () => project.exec(project.shape.tools, ...words(command))));
  return tried;
}

/** @param work returns the output */
export async function tellTried(
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
