/** Alerts, runbooks and dashboards against the product's metrics, columns and commands. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { alertRules, alertsOf, runbooks } from '../../docs/generate/alerts.ts';
import { business, type Dashboard, dashboardJson, operations } from '../../docs/generate/dashboards.ts';
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { openLines } from '../../src/chains/node/metrics.ts';
import { makeAnalyst, makeAnalytics } from '../../src/postgres/analytics.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';
import { freshDatabase } from '../support/postgres.ts';
import { storeMetrics } from '../support/storeMetrics.ts';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = text('docs/operate/alarms.md');
const alerts = alertsOf(page);
const dashboards: readonly Dashboard[] = [operations, business];

/** Labels of each series that queries may name. */
function seriesThere(): ReadonlyMap<string, ReadonlySet<string>> {
  const { registry } = createTelemetry(createLogger('silent'));
  openLines(registry);
  const target = ['job', 'instance'];
  const known = registry.getMetricsAsArray().flatMap((metric) => {
    const { name, labelNames = [] } = metric as typeof metric & { labelNames?: readonly string[] };
    const labels = new Set([...labelNames, ...target]);
    const parts = ['_bucket', '_count', '_sum'].map((part) => [`${name}${part}`, new Set([...labels, 'le'])] as const);
    return [[name, labels] as const, ...parts];
  });
  const ofStore = Object.entries(storeMetrics).map(([name, own]) => [name, new Set([...own, ...target])] as const);
  return new Map([['up', new Set(target)], ...ofStore, ...known]);
}

interface Named {
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
  readonly errors: number;
}

/** Names in a PromQL query. */
function namedIn(query: string): Named {
  const [metrics, labels]: [string[], string[]] = [[], []];
  let errors = 0;
  parser.parse(query).iterate({
    enter({ name, from, to, type }) {
      if (type.isError) errors += 1;
      if (name === 'Identifier') metrics.push(query.slice(from, to));
      if (name === 'LabelName') labels.push(query.slice(from, to));
    },
  });
  return { metrics, labels, errors };
}

const queries = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...operations.panels.flatMap(({ title, asks }) => asks.map(([query]) => [title, query] as const)),
];

describe('observability', () => {
  it('is the present output of npm run docs for the alarms', () => {
    assert.equal(text('deploy/observability/alerts.yml'), `${alertRules(page)}\n`, 'stale: npm run docs');
    assert.equal(text('docs/operate/runbooks.md'), `${runbooks(page)}\n`, 'stale: npm run docs');
    for (const dashboard of dashboards) {
      const file = `deploy/observability/grafana/dashboards/${dashboard.uid.replace('payments-', '')}.json`;
      assert.equal(text(file), `${dashboardJson(dashboard)}\n`, 'stale: npm run docs');
    }
  });

  it('has a rule for every alarm, and a section of the runbooks for every rule, by distinct names', () => {
    const alarms = [...(page.split('\n## Details\n')[0] ?? '').matchAll(/^\| `(\w+)`/gm)];
    assert.ok(alarms.length > 50);
    for (const [, name] of alarms)
      assert.ok(
        alerts.some(({ expr }) => expr.includes(`reason="${name}"`)),
        `${name} has no rule`,
      );
    assert.equal(new Set(alerts.map(({ name }) => name.toLowerCase())).size, alerts.length);
    const sections = [...text('docs/operate/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      sections,
      alerts.map(({ name }) => name),
    );
  });

  it('queries existing metrics and labels, in valid queries', () => {
    const there = seriesThere();
    for (const [name, query] of queries) {
      const { metrics, labels, errors } = namedIn(query);
      assert.equal(errors, 0, `${name}: ${query}`);
      assert.ok(metrics.length > 0, name);
      const known = metrics.map((metric) => there.get(metric) ?? assert.fail(`${name}: no metric ${metric}`));
      for (const label of labels)
        assert.ok(
          known.some((own) => own.has(label)),
          `${name}: no metric of ${query} has ${label}`,
        );
    }
    assert.ok(namedIn('sum(').errors > 0, 'the parser tells what cannot be read');
  });

  it('contains SQL that an analyst may run, and gets rows with names', async () => {
    const database = await freshDatabase();
    for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
    await makeAnalytics(database, new Map());
    await makeAnalyst(database, 'reads-and-nothing-else', Buffer.alloc(16, 7));
    const url = new URL(database.url);
    [url.username, url.password] = ['analyst', 'reads-and-nothing-else'];
    const analyst = openDatabase({ url: url.href, connectionsMax: 1 });
    try {
      for (const { title, asks } of business.panels)
        for (const [sql] of asks) {
          const asked = sql.replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 BETWEEN now() - interval '30 days' AND now()");
          assert.doesNotMatch(asked, /\$__/, title);
          await analyst.query(asked);
        }
    } finally {
      await analyst.close();
    }
  });

  it('has dashboards whose panels do not overlap, each with a source that is provisioned', () => {
    const sources = [
      ...text('deploy/observability/grafana/provisioning/datasources/sources.yml').matchAll(/^ {4}uid: (\S+)$/gm),
    ];
    const known = new Set(sources.map(([, uid]) => uid));
    for (const dashboard of dashboards) {
      const { panels, uid } = JSON.parse(dashboardJson(dashboard));
      assert.equal(new Set(panels.map(({ id }: { id: number }) => id)).size, panels.length);
      const taken = new Set<string>();
      for (const { title, gridPos, datasource, targets, fieldConfig } of panels) {
        assert.ok(known.has(datasource.uid), `${uid}: ${title} asks ${datasource.uid}`);
        assert.ok(targets.length > 0 && fieldConfig.defaults.unit, title);
        assert.ok(gridPos.x + gridPos.w <= 24, title);
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
            assert.ok(!taken.has(`${x} ${y}`), `${title} stands upon another panel`);
            taken.add(`${x} ${y}`);
          }
      }
    }
  });

  it('runs beside the service from existing files, and is reachable from this machine alone', () => {
    const compose = text('docker-compose.yml');
    for (const [, path = ''] of compose.matchAll(/- \.\/(observability\/\S+?):/g))
      assert.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path);
    const profiled = compose.split(/\n {2}(?=\w+:\n)/).filter((part) => part.includes('profiles: [observability]'));
    assert.equal(profiled.length, 2);
    for (const service of profiled) {
      assert.match(service, /image: \S+:v?\d+\.\d+\.\d+/);
      for (const [, port = ''] of service.matchAll(/^ {6}- ([\d.:]+)$/gm)) assert.match(port, /^127\.0\.0\.1:/);
    }
  });
});
