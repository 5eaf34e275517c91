/** The service's role in Postgres as the compose files create it: it is no superuser, owns one database, and suffices for all of the service's work. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { startPostgres } from '../../sandbox/postgres.ts';
import { endNotificationFlood, makeAnalyst, makeAnalytics } from '../../src/postgres/analytics.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { ddlOf, migrate } from '../../src/postgres/migrate.ts';
import { systemClock } from '../../src/process/system.ts';
import { onStop } from '../support/hooks.ts';
import { createLocalService } from '../support/localService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const password = "it's the service's";
const analystPassword = 'reads-and-nothing-else';

/** The script in psql's reading, without psql's own commands. */
const script = readFileSync(new URL('../../deploy/compose/postgres-role.sql', import.meta.url), 'utf8')
  .replace(/^\\.*$/gm, '')
  .replaceAll(":'password'", pg.escapeLiteral(password));

async function asSuperuser<R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const withUser = (url: string, user: string, secret: string, name = 'payments'): string => {
  const changed = new URL(url);
  Object.assign(changed, { username: user, password: encodeURIComponent(secret), pathname: `/${name}` });
  return changed.href;
};

describe('the service’s own role in Postgres', function () {
  this.timeout(120_000);
  let url: string;
  let superuser: string;
  let database: Database;

  before(async () => {
    const directory = temporaryDirectory();
    const options = { dataDir: join(directory, 'postgres'), logFile: join(directory, 'log'), durable: false };
    const server = await startPostgres(options);
    onStop(() => server.stop());
    // The image's superuser is `postgres`; the sandbox's has the service's name.
    await asSuperuser(server.url, (client) => client.query(`CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'first'`));
    await asSuperuser(withUser(server.url, 'postgres', 'first'), async (client) => {
      await client.query('ALTER ROLE payments RENAME TO initial');
      await client.query(script);
    });
    superuser = withUser(server.url, 'initial', new URL(server.url).password);
    url = withUser(server.url, 'payments', password);
    database = openDatabase({ url });
    onStop(() => database.close());
  });

  it('is no superuser, owns its database and no other, and the superuser has no password', async () => {
    const [role] = await database.query(
      `SELECT rolsuper, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user`,
    );
    assert.deepEqual(role, { rolsuper: false, rolcreatedb: false, rolreplication: false, rolbypassrls: false });
    const owned = await database.query('SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = current_user');
    assert.deepEqual(owned, [{ datname: 'payments' }]);
    for (const [user, secret, name] of [
      ['postgres', 'first', 'payments'],
      ['postgres', password, 'payments'],
      ['payments', password, 'postgres'],
    ] as const)
      await assert.rejects(
        asSuperuser(withUser(url, user, secret, name), async () => {}),
        /password authentication failed|permission denied for database/,
        `${user} in ${name}`,
      );
    for (const forbidden of [
      'CREATE DATABASE another',
      'ALTER ROLE payments SUPERUSER',
      `ALTER ROLE postgres PASSWORD 'mine'`,
      `COPY (SELECT 1) TO PROGRAM 'true'`,
      `SELECT pg_read_file('/etc/passwd')`,
      'GRANT pg_execute_server_program TO payments',
    ])
      await assert.rejects(database.query(forbidden), /permission denied|must be|only roles with/i, forbidden);
  });

  it('runs all migrations, also a second time, and creates each set of read models', async () => {
    await migrate(database);
    await migrate(database);
    for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
    await makeAnalytics(database, new Map());
  });

  it('creates the analysts’ role, which reads and holds nothing up, and ends its sessions', async () => {
    for (const salt of [1, 2]) await makeAnalyst(database, analystPassword, Buffer.alloc(16, salt));
    const analyst = new pg.Client({ connectionString: withUser(url, 'analyst', analystPassword) });
    await analyst.connect();
    const ended = new Promise((resolve) => analyst.on('error', resolve));
    await analyst.query('SELECT count(*) FROM analytics.payments');
    for (const forbidden of [
      `SELECT pg_notify('work', 'x')`,
      'SELECT pg_advisory_lock(1)',
      'SELECT * FROM ops.projections',
    ])
      await assert.rejects(analyst.query(forbidden), /permission denied/, forbidden);
    await analyst.query('BEGIN; SET TRANSACTION READ WRITE');
    await assert.rejects(analyst.query('CREATE TEMPORARY TABLE mine (a int)'), /permission denied/);
    assert.equal(await endNotificationFlood(database, -1), 1);
    await ended;
  });

  it('is enough for each start of the service', async () => {
    await asSuperuser(superuser, async (client) => {
      const { rows } = await client.query<{ schema: string }>(
        `SELECT quote_ident(nspname) AS schema FROM pg_namespace WHERE pg_get_userbyid(nspowner) = 'payments' AND nspname <> 'public'`,
      );
      for (const { schema } of rows) await client.query(`DROP SCHEMA ${schema} CASCADE`);
    });
    const service = createLocalService([8453], systemClock, async ({ settings }) => ({
      ...settings,
      DATABASE_URL: url,
      ANALYST_PASSWORD: 'another-password',
    }));
    try {
      await service.open();
      await service.stop();
      await service.start();
      await asSuperuser(withUser(url, 'analyst', 'another-password'), (client) =>
        client.query('SELECT count(*) FROM analytics.payments'),
      );
    } finally {
      await service.close();
    }
  });
});
