/** `npm run doctor`: checks everything that an installation needs, and says what to do about problems. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import type { Instant } from '../domain/time.ts';
import { type Config, ConfigError } from '../src/config.ts';
import { identityOf } from '../src/postgres/chainIdentities.ts';
import { type Database, openDatabase } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { embedded, storeAddress } from '../src/store/address.ts';
import { openEventStore } from '../src/store/client.ts';
import { readServerVersion } from '../src/store/version.ts';
import { eventStoreOf, openChainsOnly, readEnvironment } from './connections.ts';
import { chainCheck } from './doctor/chains.ts';
import {
  type Check,
  type DoctorFinding,
  type DoctorVerdict,
  type Examined,
  examine,
  machineCheck,
  verdictOf,
} from './doctor/machine.ts';
import { serviceCheck } from './doctor/service.ts';
import { eventStoreCheck, type JoinedStore, postgresCheck } from './doctor/stores.ts';
import { type Mark, print, printJson } from './print.ts';
import { runProgram } from './program.ts';

interface Options {
  readonly json?: true | undefined;
  readonly operations?: string | undefined;
}

const statementTimeout_ms = 10_000;

async function main({ json, operations }: Options): Promise<void> {
  const config = configuration();
  const examined = 'problems' in config ? [config.problems] : await all(config.config, { json, operations });
  if (json) printJson({ verdict: verdictOf(examined), areas: examined });
  else show(examined);
  if (verdictOf(examined) === 'broken') process.exitCode = 1;
}

/** Without a usable configuration nothing else can be checked. */
function configuration(): { readonly config: Config } | { readonly problems: Examined } {
  try {
    return { config: readEnvironment() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const todo = 'mend it in .env; .env.example explains every variable';
    const findings = error.problems.map((said): DoctorFinding => ({ verdict: 'broken', what: 'setting', said, todo }));
    return { problems: { area: 'Configuration', findings } };
  }
}

async function all(config: Config, { json, operations }: Options): Promise<readonly Examined[]> {
  const database = openDatabase({
    url: config.databaseUrl,
    applicationName: 'doctor',
    connectionsMax: 2,
    statementTimeout_ms,
  });
  const checks = checksOf(config, database, operations);
  const bar = new SingleBar({ format: 'looking [{bar}] {value} of {total}', clearOnComplete: true });
  if (!json && process.stderr.isTTY) bar.start(checks.length, 0);
  try {
    return await examine(checks, () => bar.increment());
  } finally {
    bar.stop();
    await database.close();
  }
}

function checksOf(config: Config, database: Database, operations: string | undefined): readonly Check[] {
  const now = (): Instant => systemClock.now();
  const chains = [...openChainsOnly(config)].map(([id, open]) =>
    chainCheck({ open, mode: config.mode, now, remembered: () => identityOf(database, id).catch(() => null) }),
  );
  return [
    machineCheck(config.dataDir),
    postgresCheck(database, () => Date.parse(now()) / 1_000),
    ...(hasStore(config) ? [eventStoreCheck(() => joinStore(config), database)] : []),
    ...chains,
    serviceCheck(config, operations),
  ];
}

/** A check would create the embedded store of a service that never ran. */
const hasStore = ({ eventStoreUrl, dataDir }: Config): boolean =>
  eventStoreUrl !== null || existsSync(join(dataDir, 'eventstore'));

async function joinStore({ dataDir }: Config): Promise<JoinedStore> {
  const { eventStoreUrl, close } = await eventStoreOf({ data: dataDir }, 'join');
  const store = openEventStore({ url: eventStoreUrl });
  const user = storeAddress(eventStoreUrl).user?.username ?? null;
  const isEmbedded = storeAddress(eventStoreUrl).socket !== null;
  const version = async () => (isEmbedded ? embedded : readServerVersion(eventStoreUrl));
  return { store, user, version, close: () => store.close().finally(close) };
}

const marks: Readonly<Record<DoctorVerdict, Mark>> = {
  fine: { style: 'green', text: '✔' },
  look: { style: 'yellow', text: '!' },
  broken: { style: 'red', text: '✖' },
};

function show(examined: readonly Examined[]): void {
  for (const { area, findings } of examined) {
    print('', [{ style: 'bold', text: area }]);
    for (const { verdict, what, said, todo } of findings) {
      print(['  ', marks[verdict], ` ${what}: ${said}`]);
      if (todo) print(`      → ${todo}`);
    }
  }
  print('', lastWords[verdictOf(examined)]);
}

const lastWords: Readonly<Record<DoctorVerdict, string>> = {
  fine: 'Everything is as it should be.',
  look: 'It can run. Look at the lines with “!”.',
  broken: 'It cannot run as it should: mend the lines with “✖”, then run this again.',
};

const program = new Command('npm run doctor --')
  .description(
    'Checks the configuration, this machine, both stores, every node, the clocks, the treasury and the service. Exit code 1: a check failed. Changes nothing.',
  )
  .option('--operations <url>', 'Operations URL of the running service; default: OPERATIONS_HOST and OPERATIONS_PORT')
  .option('--json', 'Print JSON')
  .action(main);

program.addHelpText('after', '\nExample: npm run doctor -- --json');
await runProgram(() => program.parseAsync());
