/** Makes docs/reference/database.md and projections/tables.ts: tables, columns and their comments as a migrated Postgres tells them. */
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';

const introduction = `# Database

For contributors and operators: the tables and views of the service's database. Made by \`npm run docs\` from the comments in \`projections/migrations/\`; do not edit.

The views are computed from the event log and can be rebuilt with \`npm run rebuild\`. Query the views in schema \`public\`: a rebuild switches them to new tables
in one transaction. Grants stay as long as a version only adds columns. Amounts are \`numeric\` in whole tokens, times are in UTC. Other programs should
only read.

Analysts use their own views and role, without secrets: [analytics.md](analytics.md).

Volume by day and app:

\`\`\`sql
SELECT app_id, date_trunc('day', hour) AS day, sum(volume) AS volume, sum(net) AS net, sum(count) AS payments
  FROM hourly_stats GROUP BY app_id, day ORDER BY day DESC, volume DESC;
\`\`\`

Median time until payment and until payout, by route, in the last week:

\`\`\`sql
SELECT source_chain_id, destination_chain_id, count(*) AS payments,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY payin_confirmed_at - created_at) AS until_paid,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY payout_confirmed_at - payin_confirmed_at) AS until_paid_out
  FROM payments
 WHERE payout_confirmed_at > now() - interval '7 days'
 GROUP BY source_chain_id, destination_chain_id;
\`\`\`

Held money, by reason:

\`\`\`sql
SELECT chain_id, token_symbol, standing, count(*), sum(amount)
  FROM payins WHERE phase = 'confirmed' AND standing <> 'counted' GROUP BY chain_id, token_symbol, standing;
\`\`\``;

const sets: Readonly<Record<string, string>> = {
  work: 'Data that the service needs to act.',
  reports: 'Data for people: lists, statistics and the feed.',
};

/** @param database migrated; the first generation of each set is made in it */
export async function databaseDocument(database: Database): Promise<string> {
  const parts = [introduction];
  for (const set of projectionSets) {
    const { schema } = await openActive(database, set, await ddlOf(set.name));
    parts.push(`## Views of set \`${set.name}\`\n\n${sets[set.name]}`, ...(await tablesOf(database, schema)));
  }
  const operations = 'State of workers and projections that is not computed from events. Backups include it.';
  parts.push(`## Tables of schema \`ops\`\n\n${operations}`, ...(await tablesOf(database, 'ops')));
  return parts.join('\n\n');
}

interface Column {
  readonly table: string;
  readonly about: string | null;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly key: boolean;
  readonly comment: string | null;
}

/** Columns of all commented tables of a schema, in order. */
const columnsOf = (sql: Sql, schema: string): Promise<readonly Column[]> =>
  sql.query(
    `SELECT c.relname AS table, obj_description(c.oid) AS about, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            a.attnotnull AS required, a.attnum = ANY (coalesce(i.indkey::int2[], '{}')) AS key, col_description(c.oid, a.attnum) AS comment
       FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND obj_description(c.oid) IS NOT NULL
      ORDER BY c.relname, a.attnum`,
    [schema],
  );

async function tablesOf(sql: Sql, schema: string): Promise<readonly string[]> {
  const columns = await columnsOf(sql, schema);
  return Object.entries(Object.groupBy(columns, ({ table }) => table)).map(([table, its = []]) =>
    [
      `### ${table}\n`,
      `${its[0]?.about}\n`,
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...its.map(row),
    ].join('\n'),
  );
}

function row({ name, type, required, key, comment }: Column): string {
  const marks = [type, ...(key ? ['key'] : []), ...(required ? [] : ['may be null'])].join(', ');
  return `| \`${name}\` | ${marks} | ${comment ?? ''} |`;
}

/** @returns `projections/tables.ts`: the rows of each table as TypeScript sees them */
export async function tableTypes(database: Database): Promise<string> {
  const columns: Column[] = [];
  for (const set of projectionSets) {
    const { schema } = await openActive(database, set, await ddlOf(set.name));
    columns.push(...(await columnsOf(database, schema)));
  }
  const tables = Object.entries(Object.groupBy(columns, ({ table }) => table)).sort(([a], [b]) => (a < b ? -1 : 1));
  const interfaces = tables.map(([table, its = []]) =>
    [`  readonly ${table}: {`, ...its.map(field), '  };'].join('\n'),
  );
  const keys = tables.map(([table, its = []]) => `  readonly ${table}: ${keyOf(its)};`);
  return [
    '/** Generated by `npm run docs` from the tables of projections/migrations/; do not edit. Rows as projections write them. */',
    `export interface Tables {\n${interfaces.join('\n')}\n}`,
    `/** Key columns of each table. */\nexport interface TableKeys {\n${keys.join('\n')}\n}`,
  ].join('\n\n');
}

/** What JSON holds for each: numbers that JavaScript would round are texts. */
const written: Readonly<Record<string, string>> = {
  text: 'string',
  numeric: 'string',
  'numeric(20,0)': 'string',
  'timestamp with time zone': 'string',
  integer: 'number',
  bigint: 'string | number',
  boolean: 'boolean',
  json: 'object',
  'text[]': 'readonly string[]',
};

function field({ table, name, type, required }: Column): string {
  const known = written[type];
  if (known === undefined)
    throw new Error(`${table}.${name} is ${type}: say in docs/generate/database.ts how it is written`);
  return `    readonly ${name}: ${known}${required ? '' : ' | null'};`;
}

const keyOf = (columns: readonly Column[]): string =>
  columns.flatMap(({ name, key }) => (key ? [`'${name}'`] : [])).join(' | ');
