/** Entry point: runs the roles of this process from its configuration. */
import { pathToFileURL } from 'node:url';
import { ChainBroken } from '../commands/codec.ts';
import type { ManageMerchant } from '../commands/manageMerchant.ts';
import { type Clock, Unavailable } from '../commands/ports.ts';
import { welcome } from './accounts/people.ts';
import { guardNotifications, prepareAnalytics } from './analysts.ts';
import { startServers, type TrialPorts } from './api/index.ts';
import { CannotListen } from './api/server.ts';
import { type Config, ConfigError, readConfig, type Serves, serves } from './config.ts';
import { openCore } from './core.ts';
import { printable } from './lib/printable.ts';
import { allowSlowConnects, systemClock } from './process/system.ts';
import { createLogger } from './process/telemetry.ts';
import { runProjectionsRole } from './readmodels/index.ts';
import { LogSetBack } from './readmodels/logSetBack.ts';
import type { WaitUntilProjected } from './readmodels/projections.ts';
import { startSigner } from './signerProcess.ts';
import { NodeNotStarted } from './store/node/spawn.ts';
import { KeyChangeUnfinished } from './store/sealed.ts';
import { operatorDeps, runAccounts } from './workers/accounts/index.ts';
import { runNightlyAudit } from './workers/audit/index.ts';
import { guardNodes } from './workers/health/index.ts';
import { runSubscribersRole } from './workers/index.ts';

export interface Service {
  /** Listening address: the API, or without that role the operations port. */
  readonly url: string;
  /** Address of health, readiness and metrics. */
  readonly operationsUrl: string;
  readonly serves: Serves;
  /** For tools on this machine, such as rebuild. */
  readonly eventStoreUrl: string;
  readonly merchants: ManageMerchant & { readonly projected: WaitUntilProjected };
  /** The person of an e-mail address, who may sign in from now on. */
  readonly welcome: (email: string) => ReturnType<typeof welcome>;
  /** Accepts no more requests, finishes those in progress, closes everything. */
  stop(): Promise<void>;
}

/**
 * @param clock source of time; timers run on it too
 * @param trial ports of a local sandbox
 * @throws if a store cannot be reached or the configuration does not match the stored data
 */
export async function startService(
  config: Config,
  clock: Clock = systemClock,
  { payTest = null }: Partial<TrialPorts> = {},
): Promise<Service> {
  allowSlowConnects();
  const core = await openCore(config, clock);
  await prepareAnalytics(core);
  const stopping = new AbortController();
  const { signal } = stopping;
  const has = (role: Config['roles'][number]) => config.roles.includes(role);
  const servers = await startServers(core, signal, { hasApi: has('api'), payTest }).catch(async (error: unknown) => {
    stopping.abort();
    await core.close();
    throw error;
  });
  const running = [
    core.clockWatch.run(signal),
    guardNodes(core, signal),
    guardNotifications(core, signal),
    ...(has('api') ? [runAccounts(core, signal)] : []),
    ...(has('projections') ? [runProjectionsRole(core, signal)] : []),
    ...(has('subscribers') ? [runSubscribersRole(core, signal)] : []),
    ...(has('audit') ? [runNightlyAudit(core, signal)] : []),
  ].map((role) =>
    role.catch((error: unknown) =>
      core.telemetry.alarm(
        'roleEnded',
        { error: String(error) },
        'a role has ended: see the error, then restart the instance',
      ),
    ),
  );

  return {
    url: servers.url,
    operationsUrl: servers.operationsUrl,
    serves: serves(config, { ...servers, eventStoreUrl: core.eventStoreUrl }),
    eventStoreUrl: core.eventStoreUrl,
    merchants: { ...core.merchants, projected: core.projected },
    welcome: (email) => welcome(operatorDeps(core), email),
    async stop() {
      await servers.close();
      stopping.abort();
      await Promise.all(running);
      await core.close();
    },
  };
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const service = config.signing.server ? await startSigner(config, systemClock) : await startService(config);
  // Independent of LOG_LEVEL: programs that start the service wait for this line.
  createLogger('info').info(service.serves, 'ready');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      service.stop().then(() => process.exit(0), fail);
    });
  }
}

/** Reason of a failed start: only the message if it says what to fix, else with the stack. */
export function failureText(error: unknown): string {
  const explained = [
    ConfigError,
    CannotListen,
    LogSetBack,
    NodeNotStarted,
    Unavailable,
    ChainBroken,
    KeyChangeUnfinished,
  ].some((kind) => error instanceof kind);
  const text = explained ? (error as Error).message : String((error as Error)?.stack ?? error);
  return text.split('\n').map(printable).join('\n');
}

function fail(error: unknown): never {
  process.stderr.write(`${failureText(error)}\n`);
  process.exit(1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main().catch(fail);
