/** Makes docs/reference/analytics.md: views, columns and their comments as Postgres tells them. */
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { makeAnalytics } from '../../src/postgres/analytics.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';

const introduction = `# Analytics

Made by \`npm run docs\` from the comments in \`projections/migrations/analytics.sql\`; do not edit. Schema \`analytics\` is for questions of one's own:
views that keep their columns through rebuilds and versions ([versions.md](versions.md)). They stand upon the service's own views ([database.md](database.md)), are
made by its start, and say what those say, a moment after it happened. Times are with time zone, days are those of UTC, amounts are in whole tokens, and
tokens count as dollars.

Set \`ANALYST_PASSWORD\` and start the service: there is a role \`analyst\` then, which reads these views and nothing else. It only reads, five connections at
a time; a statement ends after 60 seconds unless he sets another limit, and whatever he has open ends when the views are made anew or \`npm run rebuild\` switches the read models. With locks, large objects and \`pg_notify\` an
analyst could hold up the service. The compose files take them from everybody else ([postgres-role.sql](../../deploy/compose/postgres-role.sql)). Elsewhere
a superuser runs the same statements once, or the user of \`DATABASE_URL\` is a superuser and each start does it. The command \`NOTIFY\` cannot be revoked: sessions of analysts end when the notification queue is 2 % full. It must be allowed to
make roles; else the alarm \`analystRole\` says so, and its administrator makes the role once:

\`\`\`sql
CREATE ROLE analyst LOGIN;
GRANT analyst TO CURRENT_USER WITH ADMIN OPTION;
\`\`\`

\`\`\`text
psql "postgres://analyst:<password>@<host>:5432/<database>"
docker compose exec postgres psql "postgres://analyst:<password>@localhost/payments"     # beside docker-compose.yml
\`\`\`

What each route earned in the last thirty days:

\`\`\`sql
SELECT source_chain_id, destination_chain_id, sum(payments) AS payments, sum(volume) AS volume, sum(fees) AS fees, sum(cost) AS cost, sum(profit) AS profit
  FROM analytics.profit WHERE day > current_date - 30 GROUP BY 1, 2 ORDER BY profit DESC;
\`\`\`

Which payments wait, and for what:

\`\`\`sql
SELECT payment_id, destination_chain_id, destination_amount, waits_for, now() - funded_at AS waits
  FROM analytics.payments WHERE funded_at IS NOT NULL AND paid_out_at IS NULL ORDER BY funded_at;
\`\`\`

Money that is held, by reason and age:

\`\`\`sql
SELECT reason, count(*), sum(amount), max(age) AS oldest FROM analytics.held_money GROUP BY reason ORDER BY sum(amount) DESC;
\`\`\`

What payouts waited for, and how long, also of those that have long been paid:

\`\`\`sql
SELECT reason, count(*) AS payouts, sum(waited) AS waited FROM analytics.payout_waits GROUP BY reason ORDER BY waited DESC;
\`\`\`

The log has no event of a wait: these are kept beside it, and a database that is filled from the log begins without them. There is no event of a
transaction's being sent: it is sent right after it was signed, so \`signed_at\` stands for it. Costs in dollars are at the configured
price of now, for the log has no prices: history changes with \`COIN_PRICE_<chainId>\`.

## Views`;

interface Column {
  readonly view: string;
  readonly about: string | null;
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
}

/** @param database migrated; the first generation of each set is made in it */
export async function analyticsDocument(database: Database): Promise<string> {
  for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
  await makeAnalytics(database, new Map());
  const columns = await database.query<Column>(
    `SELECT c.relname AS view, obj_description(c.oid) AS about, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            col_description(c.oid, a.attnum) AS comment
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v'
      ORDER BY c.relname, a.attnum`,
  );
  const views = Object.entries(Object.groupBy(columns, ({ view }) => view)).map(([view, its = []]) =>
    [
      `### analytics.${view}\n`,
      `${its[0]?.about}\n`,
      '| column | type | means |',
      '| --- | --- | --- |',
      ...its.map(({ name, type, comment }) => `| \`${name}\` | ${type} | ${comment ?? ''} |`),
    ].join('\n'),
  );
  return [introduction, ...views].join('\n\n');
}
