/** Makes docs/reference/analytics.md: views, columns and their comments as Postgres tells them. */
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { makeAnalytics } from '../../src/postgres/analytics.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';

const introduction = `# Analytics

For analysts: the views of schema \`analytics\`, and the role that reads them. Made by \`npm run docs\` from the comments in \`projections/migrations/analytics.sql\`;
do not edit.

The views keep their columns through rebuilds and versions ([versions.md](versions.md)). The service creates them at its start, on its own views
([database.md](database.md)), and they are up to date within about a second. Times have a time zone, days are in UTC, amounts are in whole tokens, and a token counts
as one dollar.

A query about a day or a month reads the rows of that time only: with many payments, state a time. \`treasury_balances\` reads all movements of the treasury.

Set \`ANALYST_PASSWORD\` and start the service. It creates the role \`analyst\`, which can only read these views, with at most five connections. A statement ends
after 60 s; the analyst can set another limit. Open statements end when the service recreates the views, or when \`npm run rebuild\` switches the read models.

An analyst with locks, large objects or \`pg_notify\` could block the service. The compose files revoke these rights
([postgres-role.sql](../../deploy/compose/postgres-role.sql)). In another installation, a superuser runs the same statements once, or the user of \`DATABASE_URL\` is a
superuser and each start runs them. The command \`NOTIFY\` cannot be revoked, so sessions of analysts end when the notification queue is 2 % full. If the user of
\`DATABASE_URL\` cannot create roles, the alarm \`analystRole\` says so, and an administrator creates the role once:

\`\`\`sql
CREATE ROLE analyst LOGIN;
GRANT analyst TO CURRENT_USER WITH ADMIN OPTION;
\`\`\`

\`\`\`text
psql "postgres://analyst:<password>@<host>:5432/<database>"
docker compose exec postgres psql "postgres://analyst:<password>@localhost/payments"     # beside docker-compose.yml
\`\`\`

Profit of each route in the last thirty days:

\`\`\`sql
SELECT source_chain_id, destination_chain_id, sum(payments) AS payments, sum(volume) AS volume, sum(fees) AS fees, sum(cost) AS cost, sum(profit) AS profit
  FROM analytics.profit WHERE day > current_date - 30 GROUP BY 1, 2 ORDER BY profit DESC;
\`\`\`

Payments that wait, with the reason:

\`\`\`sql
SELECT payment_id, destination_chain_id, destination_amount, waits_for, now() - funded_at AS waits
  FROM analytics.payments WHERE funded_at IS NOT NULL AND paid_out_at IS NULL ORDER BY funded_at;
\`\`\`

Held money, by reason and age:

\`\`\`sql
SELECT reason, count(*), sum(amount), max(age) AS oldest FROM analytics.held_money GROUP BY reason ORDER BY sum(amount) DESC;
\`\`\`

Waits of payouts by reason, past waits included:

\`\`\`sql
SELECT reason, count(*) AS payouts, sum(waited) AS waited FROM analytics.payout_waits GROUP BY reason ORDER BY waited DESC;
\`\`\`

Waits are not events. Postgres stores them, and a database that is rebuilt from the log begins without them. The log has no event for the broadcast of a
transaction; it follows right after the signature, so \`signed_at\` is its time. Costs in dollars use the current configured price, because the log has no
prices: a change of \`COIN_PRICE_<chainId>\` changes past costs.

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
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...its.map(({ name, type, comment }) => `| \`${name}\` | ${type} | ${comment ?? ''} |`),
    ].join('\n'),
  );
  return [introduction, ...views].join('\n\n');
}
