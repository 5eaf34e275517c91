/** Analysts' views and their Postgres role: prepared at every start, without delaying it. */

import type { Clock } from '../commands/ports.ts';
import type { Config } from './config.ts';
import { endNotificationFlood, makeAnalyst, makeAnalytics } from './postgres/analytics.ts';
import type { Database } from './postgres/database.ts';
import { randomIds } from './process/system.ts';
import type { Telemetry } from './process/telemetry.ts';

interface Needs {
  readonly config: Pick<Config, 'analystPassword' | 'chains'>;
  readonly database: Database;
  readonly telemetry: Pick<Telemetry, 'alarm'>;
}

/** Failures are alarms. */
export async function prepareAnalytics({ config, database, telemetry }: Needs): Promise<void> {
  const prices = new Map(config.chains.map(({ chainId, coin }) => [chainId, coin.price_microUsd]));
  // Read access must not stop the service from starting: the next start retries it.
  const failed = (reason: 'analyticsOutdated' | 'analystRole', todo: string) => (error: unknown) => {
    const message = `${todo} (${error instanceof Error ? error.message : String(error)})`;
    if (reason === 'analystRole') telemetry.alarm('analystRole', {}, message);
    else telemetry.alarm('analyticsOutdated', {}, message);
  };
  await makeAnalytics(database, prices).catch(
    failed(
      'analyticsOutdated',
      'the views for analysts do not exist: npm run rebuild creates them after the read models',
    ),
  );
  if (config.analystPassword === null) return;
  const salt = Buffer.from(randomIds.secret(), 'hex').subarray(0, 16);
  await makeAnalyst(database, config.analystPassword, salt).catch(
    failed(
      'analystRole',
      'the role analyst is not as it should be: let the user of DATABASE_URL make roles (ALTER ROLE … CREATEROLE)',
    ),
  );
}

/** At the rate of one session the queue of 8 GB fills in about 15 minutes. */
const floodCheck_ms = 5_000;

/** Ends sessions of analysts that fill the notification queue, until the signal aborts. Each such session raises an alarm. */
export async function guardNotifications(
  { config, database, telemetry, clock }: Needs & { readonly clock: Pick<Clock, 'sleep'> },
  signal: AbortSignal,
): Promise<void> {
  if (config.analystPassword === null) return;
  while (!signal.aborted) {
    await clock.sleep(floodCheck_ms, signal);
    // Without Postgres other alarms are raised, and the next check follows soon.
    const ended = await endNotificationFlood(database).catch(() => 0);
    if (ended > 0)
      telemetry.alarm(
        'analystRole',
        { ended },
        "analysts filled Postgres's notification queue, which would have failed the service's commits: their sessions were ended; change ANALYST_PASSWORD",
      );
  }
}
