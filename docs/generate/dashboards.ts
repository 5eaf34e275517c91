/** Makes deploy/observability/grafana/dashboards/*.json: what operators look at, out of Prometheus, and what the business looks at, out of schema `analytics`. */

interface Panel {
  readonly title: string;
  readonly kind: 'timeseries' | 'stat' | 'table' | 'barchart';
  readonly unit: string;
  /** Of 24 columns, and in rows. */
  readonly width: number;
  readonly height: number;
  /** PromQL with a legend, or SQL. */
  readonly asks: readonly (readonly [query: string, legend: string])[];
  readonly stacked?: boolean;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly source: 'prometheus' | 'postgres';
  readonly from: string;
  readonly panels: readonly Panel[];
}

const lines = (title: string, unit: string, query: string, legend: string, width = 12): Panel => ({
  ...{ title, kind: 'timeseries', unit, width, height: 8 },
  asks: [[query, legend]],
});
const number = (title: string, unit: string, query: string): Panel => ({
  ...{ title, kind: 'stat', unit, width: 4, height: 4 },
  asks: [[query, '']],
});

/** @param metric gauge of the token's floats */
const floatLines = (symbol: string, metric: string): readonly Panel[] => [
  lines(
    `Floats of ${symbol}: free of reservations, and their limits`,
    'none',
    `max by (chain) (${metric}{part="held"}) - max by (chain) (${metric}{part="reserved"}) or max by (chain, part) (${metric}{part=~"minimum|target|maximum"})`,
    'chain {{chain}} {{part}}',
  ),
  lines(`Floats of ${symbol}: in transit`, 'none', `max by (chain) (${metric}{part="inTransit"})`, 'chain {{chain}}'),
];

export const operations: Dashboard = {
  uid: 'payments-operations',
  title: 'Payment Intents: operations',
  source: 'prometheus',
  from: 'now-6h',
  panels: [
    number('Instances that answer', 'none', 'sum(up{job="payment-intents"})'),
    number('Alarms in the last hour', 'none', 'sum(increase(pi_alarms_total[1h]))'),
    number('Payouts that wait', 'none', 'sum(pi_payouts_waiting)'),
    number('Payments on hold', 'none', 'max(pi_held_payments)'),
    number('Parked work', 'none', 'sum(pi_parked_items)'),
    number('Audit findings', 'none', 'max(pi_audit_findings)'),
    lines('Alarms by reason', 'none', 'sum by (reason) (increase(pi_alarms_total[10m])) > 0', '{{reason}}', 24),
    lines('Answers a second', 'reqps', 'sum by (status) (rate(pi_http_request_seconds_count[5m]))', '{{status}}'),
    {
      ...{ title: 'Time to answer', kind: 'timeseries', unit: 's', width: 12, height: 8 },
      asks: [0.5, 0.95, 0.99].map((share) => [
        `histogram_quantile(${share}, sum by (le) (rate(pi_http_request_seconds_bucket{route!~".*events"}[5m])))`,
        `p${share * 100}`,
      ]),
    },
    lines(
      'Age of the newest block that was read',
      's',
      'max by (chain, pass) (pi_chain_scan_lag_seconds)',
      'chain {{chain}} {{pass}}',
    ),
    lines(
      'How long nodes stand still',
      's',
      'max by (chain, node, part) (pi_chain_standing_seconds)',
      'chain {{chain}} node {{node}} {{part}}',
    ),
    lines(
      'Calls of nodes a second',
      'cps',
      'sum by (chain, node) (rate(pi_node_calls_total[5m]))',
      'chain {{chain}} node {{node}}',
    ),
    lines(
      'Calls that nodes refused or failed',
      'cps',
      'sum by (chain, node, result) (rate(pi_node_calls_total{result!="answered"}[5m]))',
      'chain {{chain}} node {{node}} {{result}}',
    ),
    lines('Read models behind the log', 's', 'max by (set) (pi_projection_lag_seconds)', '{{set}}'),
    lines('Oldest work that is due', 's', 'max by (list) (pi_oldest_due_seconds)', '{{list}}'),
    lines('Work a second', 'ops', 'sum by (worker, result) (rate(pi_work_total[5m]))', '{{worker}} {{result}}'),
    lines(
      'Payouts that wait, and for what',
      'none',
      'sum by (chain, reason) (pi_payouts_waiting)',
      'chain {{chain}}: {{reason}}',
    ),
    lines('Treasury', 'none', 'max by (chain, token) (pi_treasury_float)', 'chain {{chain}} {{token}}'),
    ...['USDC', 'USDT'].flatMap((symbol) => floatLines(symbol, `pi_float_${symbol.toLowerCase()}`)),
    lines('Open rebalances by state', 'none', 'max by (state) (pi_rebalances_open)', '{{state}}'),
    lines(
      'Bytes that nodes refused',
      'none',
      'sum by (chain, kind) (increase(pi_broadcast_refusals_total[10m]))',
      'chain {{chain}} {{kind}}',
    ),
    lines(
      'Event store: slowest flush to disk',
      's',
      'max by (instance) (eventstore_writer_flush_duration_max_seconds)',
      '{{instance}}',
      8,
    ),
    lines(
      'Event store: elections',
      'none',
      'sum by (instance) (increase(eventstore_elections_count_total[10m]))',
      '{{instance}}',
      8,
    ),
    lines(
      'Event store: share of the disk in use',
      'percentunit',
      'max by (instance, disk) (eventstore_sys_disk_bytes{kind="used"}) / max by (instance, disk) (eventstore_sys_disk_bytes{kind="total"})',
      '{{instance}} {{disk}}',
      8,
    ),
    lines('Memory', 'bytes', 'process_resident_memory_bytes{job="payment-intents"}', '{{instance}}', 8),
    lines('Event loop behind', 's', 'nodejs_eventloop_lag_p99_seconds{job="payment-intents"}', '{{instance}}', 8),
    lines('Clock against the chains', 's', 'pi_clock_offset_seconds', '{{instance}}', 8),
  ],
};

/** Grafana fills in the chosen days. */
const within = (day: string): string => `$__timeFilter(${day})`;

const table = (title: string, sql: string, width = 12): Panel => ({
  ...{ title, kind: 'table', unit: 'none', width, height: 8 },
  asks: [[sql, '']],
});
const bars = (title: string, unit: string, sql: string, width = 12): Panel => ({
  ...{ title, kind: 'barchart', unit, width, height: 8, stacked: true },
  asks: [[sql, '']],
});

export const business: Dashboard = {
  uid: 'payments-business',
  title: 'Payment Intents: business',
  source: 'postgres',
  from: 'now-30d',
  panels: [
    number(
      'Volume',
      'currencyUSD',
      `SELECT coalesce(sum(volume), 0) AS volume FROM analytics.profit WHERE ${within('day')}`,
    ),
    number(
      'Payments paid out',
      'none',
      `SELECT coalesce(sum(payments), 0) AS payments FROM analytics.profit WHERE ${within('day')}`,
    ),
    number('Fees', 'currencyUSD', `SELECT coalesce(sum(fees), 0) AS fees FROM analytics.profit WHERE ${within('day')}`),
    number(
      'Cost of payouts',
      'currencyUSD',
      `SELECT coalesce(sum(cost), 0) AS cost FROM analytics.profit WHERE ${within('day')}`,
    ),
    number(
      'Profit',
      'currencyUSD',
      `SELECT coalesce(sum(profit), 0) AS profit FROM analytics.profit WHERE ${within('day')}`,
    ),
    number('Money held now', 'currencyUSD', 'SELECT coalesce(sum(amount), 0) AS held FROM analytics.held_money'),
    bars(
      'Volume by day',
      'currencyUSD',
      `SELECT day::text, sum(volume) AS volume FROM analytics.profit WHERE ${within('day')} GROUP BY day ORDER BY day`,
    ),
    bars(
      'How far payments came, by the day of their creation',
      'none',
      `SELECT day::text, sum(paid_out) AS "paid out", sum(bounced) AS bounced, sum(abandoned) AS abandoned FROM analytics.conversion WHERE ${within('day')} GROUP BY day ORDER BY day`,
    ),
    {
      ...{ title: 'Seconds from payin to payout', kind: 'timeseries', unit: 's', width: 12, height: 8 },
      asks: [
        [
          `SELECT day::timestamptz AS time, max(p50_s) AS "p50, slowest route", max(p95_s) AS "p95, slowest route" FROM analytics.durations WHERE ${within('day')} GROUP BY day ORDER BY day`,
          '',
        ],
      ],
    },
    bars(
      'Fees and costs by day',
      'currencyUSD',
      `SELECT day::text, sum(fees) AS fees, -sum(cost) AS cost FROM analytics.profit WHERE ${within('day')} GROUP BY day ORDER BY day`,
    ),
    table(
      'Routes',
      `SELECT s.chain AS "from", d.chain AS "to", sum(payments) AS payments, sum(volume) AS volume, sum(fees) AS fees, sum(cost) AS cost, sum(profit) AS profit
  FROM analytics.profit JOIN analytics.assets s ON s.chain_id = source_chain_id AND s.asset = 'coin' JOIN analytics.assets d ON d.chain_id = destination_chain_id AND d.asset = 'coin'
 WHERE ${within('day')} GROUP BY 1, 2 ORDER BY volume DESC LIMIT 50`,
    ),
    table(
      'Apps',
      `SELECT app_id, sum(payments) AS payments, sum(volume) AS volume, sum(fees) AS fees, sum(profit) AS profit FROM analytics.profit WHERE ${within('day')} GROUP BY app_id ORDER BY volume DESC LIMIT 50`,
    ),
    table(
      'Money that is held, by reason',
      'SELECT reason, count(*) AS payments, sum(amount) AS amount, max(age)::text AS oldest FROM analytics.held_money GROUP BY reason ORDER BY amount DESC',
    ),
    table(
      'What gas and rent went to',
      `SELECT kind, coin_symbol AS coin, count(*) AS transactions, sum(coin) AS coins, sum(usd) AS usd FROM analytics.costs WHERE ${within('at')} GROUP BY kind, coin_symbol ORDER BY usd DESC NULLS LAST`,
    ),
    {
      ...{ title: 'Treasury by day', kind: 'timeseries', unit: 'none', width: 24, height: 8 },
      asks: [
        [
          `SELECT day::timestamptz AS time, chain_id || ' ' || symbol AS metric, balance AS value FROM analytics.treasury_balances WHERE ${within('day')} ORDER BY day`,
          '',
        ],
      ],
    },
  ],
};

const columns = 24;

/** Panels in their order, row by row. */
function placed(panels: readonly Panel[]) {
  let [x, y, high] = [0, 0, 0];
  return panels.map((panel) => {
    if (x + panel.width > columns) [x, y, high] = [0, y + high, 0];
    const gridPos = { x, y, w: panel.width, h: panel.height };
    x += panel.width;
    high = Math.max(high, panel.height);
    return { panel, gridPos };
  });
}

/** @returns the dashboard as Grafana reads it */
export function dashboardJson({ uid, title, source, from, panels }: Dashboard): string {
  const type = source === 'postgres' ? 'grafana-postgresql-datasource' : 'prometheus';
  const datasource = { type, uid: `payments-${source}` };
  const target = ([query, legend]: readonly [string, string], at: number) => ({
    refId: String.fromCharCode(65 + at),
    datasource,
    ...(source === 'postgres'
      ? {
          rawQuery: true,
          editorMode: 'code',
          format: query.includes(' AS time') ? 'time_series' : 'table',
          rawSql: query,
        }
      : { editorMode: 'code', expr: query, legendFormat: legend || '__auto' }),
  });
  const dashboard = {
    uid,
    title,
    schemaVersion: 39,
    editable: false,
    timezone: 'utc',
    refresh: '1m',
    time: { from, to: 'now' },
    tags: ['payment-intents'],
    panels: placed(panels).map(({ panel, gridPos }, at) => ({
      id: at + 1,
      type: panel.kind,
      title: panel.title,
      gridPos,
      datasource,
      fieldConfig: { defaults: { unit: panel.unit }, overrides: [] },
      options: panel.kind === 'barchart' && panel.stacked ? { stacking: 'normal', xTickLabelRotation: -45 } : {},
      targets: panel.asks.map(target),
    })),
  };
  return JSON.stringify(dashboard, null, 2);
}
