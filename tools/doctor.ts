/** `npm run doctor`: checks everything that an installation needs, and says what to do about problems. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { type Chain, chainOf } from '../domain/chains.ts';
import { formatAmount } from '../domain/money.ts';
import type { Instant } from '../domain/time.ts';
import { createSmtp } from '../src/accounts/smtp.ts';
import { familyFor } from '../src/chains/families.ts';
import type { OpenChain } from '../src/chains/family.ts';
import { checkNode, type NodeReport } from '../src/chains/health.ts';
import { type Config, ConfigError } from '../src/config.ts';
import { identityOf } from '../src/postgres/chainIdentities.ts';
import { type Database, openDatabase } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { embedded, storeAddress } from '../src/store/address.ts';
import { openEventStore } from '../src/store/client.ts';
import { eventStoreOf, openChainsOnly, readEnvironment } from './connections.ts';
import {
  broken,
  type Check,
  type DoctorFinding,
  type DoctorVerdict,
  type Examined,
  errorReason,
  examine,
  fineFinding,
  look,
  machineCheck,
  verdictOf,
} from './doctor/machine.ts';
import { eventStoreCheck, type JoinedStore, postgresCheck, readServerVersion } from './doctor/stores.ts';
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

// Checks of a running service from outside, and of its mail server.

const answer_ms = 10_000;
const bodyMost = 100_000;

type Asked = Pick<Config, 'mode' | 'operations' | 'publicUrl' | 'mail'>;

/** @param operationsUrl of the service that runs here. Default: its configured address */
const serviceCheck = (config: Asked, operationsUrl?: string): Check => ({
  area: 'The service',
  async look(signal) {
    const { host, port } = config.operations;
    const local = operationsUrl ?? (port === 0 ? null : `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`);
    const findings = await Promise.all([
      local === null ? [] : readiness(local, signal),
      config.publicUrl === null ? [] : [await fromOutside(config.publicUrl, config.mode, signal)],
      config.mail === null ? [withoutMail] : [await mailServer(config.mail)],
    ]);
    return findings.flat();
  },
});

const withoutMail = look(
  'mail',
  'none is sent',
  'set SMTP_URL and MAIL_FROM: nobody can sign in to the dashboard without',
);

interface Readiness {
  readonly ready?: boolean;
  readonly checks?: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

async function readiness(url: string, signal: AbortSignal): Promise<readonly DoctorFinding[]> {
  try {
    const { body } = await ask(`${url}/readyz`, signal);
    const { ready, checks = {} } = JSON.parse(body) as Readiness;
    const troubled = Object.entries(checks).filter(([, { ok, detail }]) => !ok || detail);
    const state = ready
      ? fineFinding('ready', 'yes')
      : broken('ready', 'no', 'mend what follows, or what this program says above');
    return [
      state,
      ...troubled.map(([name, { ok, detail = '' }]) =>
        (ok ? look : broken)(`ready: ${name}`, detail || 'not ok', 'docs/operate/troubleshooting.md'),
      ),
    ];
  } catch {
    return [
      look(
        'ready',
        `nothing answers on ${url}`,
        'start it: npm run service; or set OPERATIONS_PORT to where it listens',
      ),
    ];
  }
}

async function fromOutside(url: string, mode: Config['mode'], signal: AbortSignal): Promise<DoctorFinding> {
  if (mode === 'production' && !url.startsWith('https:'))
    return broken('PUBLIC_URL', `${url} is not encrypted`, 'put a proxy with TLS before the service and name it');
  try {
    const { status } = await ask(`${url}/healthz`, signal);
    if (status === 200) return fineFinding('PUBLIC_URL', `${url} answers`);
    return look('PUBLIC_URL', `${url}/healthz answers ${status}`, 'let the proxy pass every path on to the service');
  } catch (error) {
    return look(
      'PUBLIC_URL',
      `${url} does not answer: ${errorReason(error)}`,
      'look at the proxy, its certificate and the name',
    );
  }
}

async function ask(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
  const answer = await fetch(url, { signal: patience, redirect: 'manual' });
  const body = await answer.text();
  if (body.length > bodyMost) throw new Error('the answer is not from this service');
  return { status: answer.status, body };
}

async function mailServer(mail: NonNullable<Config['mail']>): Promise<DoctorFinding> {
  const smtp = createSmtp(mail);
  try {
    await smtp.verify();
    return fineFinding('mail', `${new URL(mail.url).host} takes mail of ${mail.from}`);
  } catch (error) {
    return broken('mail', errorReason(error), 'look at SMTP_URL: host, port, user and password');
  } finally {
    smtp.close();
  }
}

// Checks of the configured chains: each node alone, all together, the clocks, and the treasury's balances.

export interface ChainAsked {
  readonly open: OpenChain;
  readonly mode: Config['mode'];
  /** Network that the service has read so far; null before that, or if Postgres does not answer. */
  readonly remembered: () => Promise<string | null>;
  readonly now: () => Instant;
}

/** An installation begins with two of different providers (docs/operate/going-live.md). */
const nodesLeast = 2;

function chainCheck({ open, mode, remembered, now }: ChainAsked): Check {
  const chain = chainOf(open.rail.chainId);
  return {
    area: `${chain.name} (${chain.id})`,
    async look(signal) {
      const about = { chain, remembered: await remembered(), pace: mode === 'production', now };
      const [reports, float] = await Promise.all([
        Promise.all(open.health.nodes.map((node) => checkNode(node, about))),
        floatOf(open, chain, signal),
      ]);
      return [...reports.map((report) => nodeFinding(report, chain)), ...together(reports, chain, mode), ...float];
    },
  };
}

function nodeFinding({ node, verdict, head, took_ms, problems }: NodeReport, { id }: Chain): DoctorFinding {
  const said = problems.length > 0 ? problems.join('; ') : `block ${head}, answers in ${Math.round(took_ms ?? 0)} ms`;
  if (verdict === 'fit') return fineFinding(node, said);
  const todo = `npm run check-chain -- ${id} tells more`;
  return verdict === 'look'
    ? look(node, said, todo)
    : broken(node, said, `take another node into RPC_URLS_${id}; ${todo}`);
}

function together(reports: readonly NodeReport[], { id }: Chain, mode: Config['mode']): readonly DoctorFinding[] {
  const networks = new Set(reports.flatMap(({ identity }) => identity ?? []));
  const mixed = broken(
    'nodes',
    'they belong to different networks',
    `take out of RPC_URLS_${id} those that are not meant`,
  );
  const few = look('nodes', `${reports.length} alone`, `name a second one, of another operator, in RPC_URLS_${id}`);
  return [
    ...(networks.size > 1 ? [mixed] : []),
    ...(mode === 'production' && reports.length < nodesLeast ? [few] : []),
  ];
}

/** Payouts need tokens and the chain's coin. */
async function floatOf({ rail }: OpenChain, chain: Chain, signal: AbortSignal): Promise<readonly DoctorFinding[]> {
  try {
    const { gas, tokens } = await rail.balances(signal);
    const of = (what: string, amount: bigint, decimals: number, lacking: string) => {
      const said = formatAmount(amount, decimals);
      return amount > 0n ? fineFinding(what, said) : look(what, said, `send some to ${rail.account}: ${lacking}`);
    };
    return [
      of('coin of the treasury', gas, familyFor(chain).coinDecimals, 'it pays for every transaction'),
      ...chain.tokens.map(({ symbol, address, decimals }) =>
        of(
          `${symbol} of the treasury`,
          tokens[address] ?? 0n,
          decimals,
          `no payment can ask to be paid out in ${symbol} here`,
        ),
      ),
    ];
  } catch (error) {
    return [look('treasury', `not asked: ${errorReason(error)}`, 'mend the nodes first')];
  }
}

const program = new Command('npm run doctor --')
  .description(
    'Checks the configuration, this machine, both stores, every node, the clocks, the treasury and the service. Exit code 1: a check failed. Changes nothing.',
  )
  .option('--operations <url>', 'Operations URL of the running service; default: OPERATIONS_HOST and OPERATIONS_PORT')
  .option('--json', 'Print JSON')
  .action(main);

program.addHelpText('after', '\nExample: npm run doctor -- --json');
await runProgram(() => program.parseAsync());
