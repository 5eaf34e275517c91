/** `npm run docs`: writes all that is generated, documents and row types. Specs compare it with what is committed. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../sandbox/postgres.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { alertRules, runbooks } from './alerts.ts';
import { analyticsDocument } from './analytics.ts';
import { eventCatalogue } from './catalogue.ts';
import { cliDocument, helpOfAllCommands } from './cli.ts';
import { clientTypes } from './clientTypes.ts';
import { configurationDocument } from './configuration.ts';
import { business, dashboardJson, operations } from './dashboards.ts';
import { databaseDocument, tableTypes } from './database.ts';
import { limitsDocument } from './limits.ts';
import { metricsDocument } from './metrics.ts';
import { pictureNames, pictureOf } from './pictures.ts';
import { rolesDocument } from './roles.ts';
import { withRooms } from './rooms.ts';
import { withWeather } from './weather.ts';

const write = (name: string, text: string) => writeFile(new URL(name, import.meta.url), `${text}\n`);

await write('../reference/events.md', eventCatalogue());
await write('../reference/limits.md', limitsDocument());
await write('../reference/roles.md', rolesDocument());
await write('../reference/configuration.md', configurationDocument());
await write('../reference/metrics.md', metricsDocument());
await write('../reference/cli.md', cliDocument(await helpOfAllCommands()));
const alarms = await readFile(new URL('../operate/alarms.md', import.meta.url), 'utf8');
await write('../operate/runbooks.md', runbooks(alarms));
await write('../../deploy/observability/alerts.yml', alertRules(alarms));
for (const dashboard of [operations, business]) {
  const name = dashboard.uid.replace('payments-', '');
  await write(`../../deploy/observability/grafana/dashboards/${name}.json`, dashboardJson(dashboard));
}
await write('../../clients/typescript/src/api.ts', await clientTypes());
for (const name of pictureNames()) await writeFile(new URL(`../images/${name}.svg`, import.meta.url), pictureOf(name));
const architecture = new URL('../explain/architecture.md', import.meta.url);
await writeFile(architecture, withRooms(await readFile(architecture, 'utf8')));
const chains = new URL('../operate/chains.md', import.meta.url);
await writeFile(chains, withWeather(await readFile(chains, 'utf8')));

const folder = await mkdtemp(join(tmpdir(), 'payments-docs-'));
const server = await startPostgres({
  dataDir: join(folder, 'postgres'),
  logFile: join(folder, 'postgres.log'),
  durable: false,
});
try {
  const database = openDatabase({ url: server.url });
  await migrate(database);
  await write('../reference/database.md', await databaseDocument(database));
  await write('../reference/analytics.md', await analyticsDocument(database));
  await write('../../projections/tables.ts', await tableTypes(database));
  await database.close();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
