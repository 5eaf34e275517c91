/** Makes deploy/observability/alerts.yml and docs/operate/runbooks.md: a rule for each alarm of docs/operate/alarms.md, and for conditions that only metrics show. */

export interface Alert {
  readonly name: string;
  /** PromQL. */
  readonly expr: string;
  /** Minimum duration, in Prometheus's syntax. */
  readonly lasts: string;
  readonly severity: 'page' | 'ticket';
  readonly means: string;
  /** Where to find more; null for an alarm of the service, whose log lines have the facts. */
  readonly check: string | null;
  readonly todo: string;
  /** When the alert ends; null for an alarm of the service, which ends 15 minutes after it was last raised. */
  readonly ends: string | null;
}

/** Alerts without an alarm of the service: metrics show them, or their absence does. */
const byMetrics: readonly Alert[] = [
  {
    name: 'ServiceDown',
    expr: 'up{job="payment-intents"} == 0',
    lasts: '1m',
    severity: 'page',
    means: 'an instance does not answer on its operations port',
    check: '`docker compose ps`, `docker compose logs --tail 100 service`, `npm run doctor`',
    todo: 'fix the cause in the log of the last start; pending payments wait, and nothing is lost',
    ends: 'when the instance answers',
  },
  {
    name: 'RoleWithoutInstance',
    expr: 'max by (role) (pi_role_active) == 0',
    lasts: '2m',
    severity: 'page',
    means: 'no instance is active in a role, so its work has stopped',
    check: '`/readyz` of each instance on its operations port; connections to Postgres, where the leases are',
    todo: 'start an instance with that role, or fix Postgres',
    ends: 'when an instance is active',
  },
  {
    name: 'ChainLags',
    expr: 'max by (chain) (pi_chain_scan_lag_seconds{pass="head"}) > 120',
    lasts: '2m',
    severity: 'page',
    means: 'payins of a chain are detected late: the newest block that was read is more than 2 minutes old',
    check: '`npm run check-chain -- <chain>`, the panel of calls to nodes',
    todo: 'name another node in `RPC_URLS_<chainId>`; the service catches up automatically',
    ends: 'when the newest block is read again',
  },
  {
    name: 'NodesLimited',
    expr: 'sum by (chain, node) (rate(pi_node_calls_total{result=~"limited|failed"}[10m])) > 0.2',
    lasts: '15m',
    severity: 'ticket',
    means: 'a node refuses calls because of its rate limit, or fails',
    check: '`pi_node_rate`, `npm run check-chain -- <chain>`',
    todo: 'get another plan, or name another node',
    ends: 'when its calls succeed again',
  },
  {
    name: 'WorkParked',
    expr: 'sum by (worker) (pi_parked_items) > 0',
    lasts: '5m',
    severity: 'ticket',
    means: 'an item failed ten times and waits for an operator',
    check: '`npm run work -- list`',
    todo: 'fix the cause that the error names, then run `npm run work -- retry`',
    ends: 'when nothing is parked',
  },
  {
    name: 'WorkOverdue',
    expr: 'max by (list) (pi_oldest_due_seconds) > 600',
    lasts: '5m',
    severity: 'page',
    means: 'the oldest entry of a to-do list has been due for ten minutes',
    check: '`npm run work -- list`, `npm run payouts -- list`, the panel of work',
    todo: 'provide what the entry waits for; workers continue automatically',
    ends: 'when the list is short again',
  },
  {
    name: 'PayoutsWait',
    expr: 'sum by (chain, reason) (pi_payouts_waiting) > 0',
    lasts: '10m',
    severity: 'ticket',
    means: 'payouts are not signed, for the reason that the alert names',
    check: '`npm run payouts -- list`, `npm run explain -- <paymentId>`',
    todo: 'add the missing tokens or coin, or wait until the hour has passed',
    ends: 'when the payouts are signed',
  },
  {
    name: 'PaymentsHeld',
    expr: 'max(pi_held_payments) > 0',
    lasts: '5m',
    severity: 'ticket',
    means:
      'funded payments cannot be signed: their money left its chain, an operator holds them, or too little arrived',
    check: '`npm run payouts -- list`',
    todo: 'decide each payment: `npm run payouts -- retry`, `accept` or `bounce`',
    ends: 'when you have decided each payment',
  },
  {
    name: 'ProjectionLags',
    expr: 'max by (set) (pi_projection_lag_seconds) > 30',
    lasts: '2m',
    severity: 'page',
    means: 'read models are behind the log: lists, pages and webhooks are late',
    check: '`npm run doctor`, Postgres’ own load',
    todo: 'give Postgres more resources; `/readyz` has the reason of a stopped set',
    ends: 'when the rows are at most some seconds old',
  },
  {
    name: 'ErrorsShown',
    expr: 'sum(rate(pi_http_request_seconds_count{status=~"5.."}[5m])) / sum(rate(pi_http_request_seconds_count[5m])) > 0.02',
    lasts: '5m',
    severity: 'page',
    means: 'more than 2 % of answers are errors of this service',
    check: 'the panel of answers, the log by `X-Request-Id`',
    todo: '503 means that a store, a chain or capacity is missing; `/readyz` has the reason',
    ends: 'when callers get answers without errors',
  },
  {
    name: 'AnswersSlow',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(pi_http_request_seconds_bucket{route!~".*events"}[5m]))) > 2',
    lasts: '10m',
    severity: 'ticket',
    means: '1 % of answers take more than 2 s',
    check: 'the panel of answers by route, Postgres’ and the event store’s disks',
    todo: 'start another instance with the role `api`, or use faster disks',
    ends: 'when answers are faster again',
  },
  {
    name: 'ClockDrifts',
    expr: 'abs(pi_clock_offset_seconds) > 30',
    lasts: '5m',
    severity: 'ticket',
    means: 'this machine’s clock differs by more than 30 s from those of the chains',
    check: '`timedatectl`, `npm run doctor`',
    todo: 'set the clock (NTP)',
    ends: 'when the clocks agree',
  },
  {
    name: 'AuditFindings',
    expr: 'max(pi_audit_findings) > 0',
    lasts: '1m',
    severity: 'page',
    means: 'the last audit found that log, chains and read models disagree',
    check: '`npm run audit`',
    todo: 'follow its remedy for each finding ([audit.md](../audit/audit.md))',
    ends: 'with the first audit that finds nothing',
  },
];

/** Alarms that page an operator at once. The others are tickets for the morning. */
const pages: ReadonlySet<string> = new Set([
  ...[
    'treasuryBehindChain',
    'payoutOrphaned',
    'payinLost',
    'payoutShort',
    'refundShort',
    'withdrawalShort',
    'signingRefused',
    'notOrdered',
    'signedBefore',
    'mismatch',
    'chainBroken',
    'logSetBack',
  ],
  ...[
    'headDiffers',
    'auditFailed',
    'eventStoreCannotWrite',
    'eventStoreDamaged',
    'projectionStopped',
    'roleEnded',
    'chainStands',
  ],
  ...['float', 'gas', 'nodesTooFew', 'clockOff'],
]);

const titled = (name: string): string => `Alarm${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

/** @param page docs/operate/alarms.md: the rows of its tables before "Details" list all alarms */
export function alertsOf(page: string): readonly Alert[] {
  const tables = page.split('\n## Details\n')[0] ?? '';
  const rows = [...tables.matchAll(/^\| `(\w+)` \| (.+?) \| (.+) \|$/gm)];
  const alarms = rows.map(
    ([, name = '', means = '', todo = '']): Alert => ({
      name: titled(name),
      expr: `sum(increase(pi_alarms_total{reason="${name}"}[15m])) > 0`,
      lasts: '0m',
      severity: pages.has(name) ? 'page' : 'ticket',
      means,
      check: null,
      todo,
      ends: null,
    }),
  );
  return [...byMetrics, ...alarms];
}

const yaml = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const plain = (text: string): string => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

/** @returns deploy/observability/alerts.yml */
export const alertRules = (page: string): string =>
  [
    '# Made by `npm run docs` from docs/generate/alerts.ts and the alarms of docs/operate/alarms.md; do not edit.',
    'groups:',
    '  - name: payment-intents',
    '    rules:',
    ...alertsOf(page).flatMap(({ name, expr, lasts, severity, means }) => [
      `      - alert: ${name}`,
      `        expr: ${yaml(expr)}`,
      `        for: ${lasts}`,
      `        labels: { severity: ${severity} }`,
      '        annotations:',
      `          summary: ${yaml(plain(means))}`,
      `          runbook: docs/operate/runbooks.md#${name.toLowerCase()}`,
    ]),
  ].join('\n');

/** Links to a section of docs/operate/alarms.md keep their target. */
const linked = (text: string): string => text.replaceAll('](#', '](alarms.md#');

/** @returns docs/operate/runbooks.md */
export const runbooks = (page: string): string =>
  [
    `# Runbooks

For operators on call: one section for each alert of \`deploy/observability/alerts.yml\`. Handle a \`page\` at once and a \`ticket\` in the morning. In a
container, type \`docker compose exec service npm run -s payouts -- list\` ([containers.md](containers.md#commands-in-a-container)).

An alert whose name begins with \`Alarm\` is an alarm of the service. Find its facts in the log: lines with \`"alarm":"<name>"\`. It ends 15 minutes after the last
alarm.

Made by \`npm run docs\` from \`docs/generate/alerts.ts\` and [alarms.md](alarms.md); do not edit.`,
    ...alertsOf(page).map(({ name, severity, means, check, todo, ends }) =>
      [
        `## ${name}`,
        '',
        `| ${severity} | |`,
        '|---|---|',
        `| means | ${linked(means)} |`,
        ...(check === null ? [] : [`| check | ${check} |`]),
        `| do | ${linked(todo)} |`,
        ...(ends === null ? [] : [`| ends | ${ends} |`]),
      ].join('\n'),
    ),
  ].join('\n\n');
