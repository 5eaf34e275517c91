import pino, { type Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Token } from '../../domain/chains.ts';
import { printableJson } from '../lib/printable.ts';

export type { Logger } from 'pino';

/** JSON lines on stdout, without keys, secrets, codes and terminal control characters. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        '*.apiKey',
        '*.key',
        '*.secret',
        '*.webhookSecret',
        '*.privateKey',
        'req.headers',
        '*.authorization',
        '*.password',
      ],
      censor: '[redacted]',
    },
    hooks: { streamWrite: printableJson },
  });

export type Telemetry = ReturnType<typeof createTelemetry>;

/** Progress of detection and work at one moment. */
export interface WorkProgress {
  readonly passes: readonly { readonly chainId: number; readonly pass: string; readonly lag_s: number }[];
  readonly payoutWaits: readonly { readonly chainId: number; readonly reason: string; readonly count: number }[];
  readonly parkedItems: readonly { readonly worker: string; readonly count: number }[];
  /** Due time of the oldest entry of each to-do list. */
  /** Number of funded payments that must not be signed. */
  readonly held: number;
  readonly oldestDue_s: Readonly<Record<'payments' | 'webhooks', number>>;
}

/** Time since a node's value last changed. */
export interface NodeStanding {
  readonly chainId: number;
  readonly node: string;
  readonly part: string;
  readonly standing_ms: number;
}

/** Interval of event-loop samples. The default of ten milliseconds costs a third of a percent of a core. */
const lagSample_ms = 100;

export interface FloatProgress {
  /** In whole USDC. */
  readonly parts: readonly { readonly chainId: number; readonly part: string; readonly usdc: number }[];
  /** Number of open rebalances by state. */
  readonly moves: ReadonlyMap<string, number>;
}

/** Metrics and alarms for operators: work done, failed and waiting, and lags. Scraped at /metrics. */
export function createTelemetry(logger: Logger) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagSample_ms });
  const registers = [registry];
  const work = new Counter({
    name: 'pi_work_total',
    help: 'Items worked on, by worker and result',
    labelNames: ['worker', 'result'],
    registers,
  });
  const alarms = new Counter({
    name: 'pi_alarms_total',
    help: 'Situations that need an operator',
    labelNames: ['reason'],
    registers,
  });
  const refusals = new Counter({
    name: 'pi_broadcast_refusals_total',
    help: 'Refusals of signed payouts that no node accepted, by meaning',
    labelNames: ['chain', 'kind'],
    registers,
  });
  const pushes = new Counter({
    name: 'pi_pushed_transfers_total',
    help: 'Transfers that nodes pushed over WebSockets, by receiver; dropped: too many to look up',
    labelNames: ['chain', 'to'],
    registers,
  });
  const replicaReads = new Counter({
    name: 'pi_replica_reads_total',
    help: 'Reads of lists, statistics and exports with DATABASE_READ_URL: by the replica, or by the primary because the replica was behind or unreachable',
    labelNames: ['result'],
    registers,
  });
  const signIns = new Counter({
    name: 'pi_sign_in_total',
    help: 'Registrations, requested codes and entered codes, by step and result',
    labelNames: ['step', 'result'],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[]) => new Gauge({ name, help, labelNames, registers });
  const parked = gauge('pi_parked_items', 'Items that failed ten times and wait for an operator', ['worker']);
  const waiting = gauge('pi_payouts_waiting', 'Payouts that were not signed at the last attempt, by reason', [
    'chain',
    'reason',
  ]);
  const held = gauge(
    'pi_held_payments',
    'Funded payments that are not signed: the payin was reorganised out, an operator holds them, or their payout moved too little',
    [],
  );
  const projectionLag = gauge('pi_projection_lag_seconds', 'Age of the newest event when its rows were committed', [
    'set',
  ]);
  const chainLag = gauge('pi_chain_scan_lag_seconds', 'Age of the newest block that a pass has completely read', [
    'chain',
    'pass',
  ]);
  const oldestDue = gauge('pi_oldest_due_seconds', 'How long the oldest entry of a to-do list has been due', ['list']);
  const float = gauge('pi_treasury_float', 'Treasury balance in whole tokens', ['chain', 'token']);
  const floatParts = gauge('pi_float_usdc', 'USDC of a float by part: held, reserved, in transit, and its limits', [
    'chain',
    'part',
  ]);
  const openMoves = gauge('pi_rebalances_open', 'Rebalances that are not over, by state', ['state']);
  /** By reason; at most as many as there are reasons in the code. */
  const raised = new Map<string, { count: number; message: string }>();
  const clockOffset = gauge(
    'pi_clock_offset_seconds',
    'This machine’s clock minus the median time of the newest blocks of its chains',
    [],
  );
  const standing = gauge(
    'pi_chain_standing_seconds',
    'Time for which a node returned no new block, no new final block, or a wrong time; 0 if all is well',
    ['chain', 'node', 'part'],
  );
  const headLag = gauge(
    'pi_head_lag_seconds',
    'Age of the oldest event that no signed log head covers; 0 without such an event',
    [],
  );
  const anchorAge = gauge(
    'pi_head_anchor_age_seconds',
    'Time since a log head was last written to a chain, or since the process started; 0 without anchors',
    [],
  );
  const auditAge = gauge('pi_audit_age_seconds', 'Time since the last audit finished, or since its role started', []);
  const auditFindings = gauge('pi_audit_findings', 'Problems that the last audit found', []);
  const auditGaps = gauge('pi_audit_gaps', 'Items that the last audit could not read', []);
  const active = gauge('pi_role_active', '1 if this instance is the active one of a role, else 0', ['role']);

  const requests = new Histogram({
    name: 'pi_http_request_seconds',
    help: 'Time to answer, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });

  /** Finding a series by its labels takes longer than adding to it. Their number is bounded by routes, methods and statuses. */
  const series = new Map<string, Pick<Histogram.Internal<'method' | 'route' | 'status'>, 'observe'>>();
  function seriesOf(
    method: string,
    route: string,
    status: number,
  ): Pick<Histogram.Internal<'method' | 'route' | 'status'>, 'observe'> {
    const name = `${method} ${status} ${route}`;
    const found = series.get(name) ?? requests.labels({ method, route, status });
    series.set(name, found);
    return found;
  }

  return {
    registry,
    logger,
    projectionLag,
    active,
    headLag,
    anchorAge,
    auditAge,
    auditFindings,
    auditGaps,
    observeRequest: ({ method, route, status, duration_s }: RequestSeen): void =>
      seriesOf(method, route, status).observe(duration_s),
    observeClock: (offset_ms: number): void => clockOffset.set(offset_ms / 1_000),
    /** @param kind `unknown` for texts outside the table: they are logged, so that they can be added */
    countRefusal(chainId: number, kind: string, detail: string): void {
      refusals.inc({ chain: chainId, kind });
      if (kind === 'unknown')
        logger.warn({ chainId, detail: detail.slice(0, 400) }, 'a node refuses bytes in unknown words');
    },
    countPushed: (chainId: number, to: 'ours' | 'others' | 'dropped', transfers: number): void =>
      pushes.inc({ chain: chainId, to }, transfers),
    observeStands: ({ chainId, node, part, standing_ms }: NodeStanding): void =>
      standing.set({ chain: chainId, node, part }, standing_ms / 1_000),
    replicaRead: (result: string): void => replicaReads.inc({ result }),
    countSignIn: (step: string, result: string): void => signIns.inc({ step, result }),
    observeFloat: (chainId: number, { symbol, decimals }: Token, amount: bigint): void =>
      float.set({ chain: chainId, token: symbol }, Number(amount / 10n ** BigInt(decimals))),
    /** Values from the database, equal on every instance. */
    observeFloats({ parts, moves }: FloatProgress): void {
      floatParts.reset();
      for (const { chainId, part, usdc } of parts) floatParts.set({ chain: chainId, part }, usdc);
      openMoves.reset();
      for (const [state, count] of moves) openMoves.set({ state }, count);
    },
    /** Alarms since the start, with the last message of each reason. */
    raisedAlarms: () => [...raised].map(([reason, { count, message }]) => ({ reason, count, message })),
    /** Values from the database, equal on every instance. */
    observeStanding({ passes, payoutWaits, parkedItems, held: heldPayments, oldestDue_s }: WorkProgress): void {
      held.set(heldPayments);
      for (const [list, age_s] of Object.entries(oldestDue_s)) oldestDue.set({ list }, age_s);
      waiting.reset();
      for (const { chainId, reason, count } of payoutWaits) waiting.set({ chain: chainId, reason }, count);
      parked.reset();
      for (const { worker, count } of parkedItems) parked.set({ worker }, count);
      for (const { chainId, pass, lag_s } of passes) chainLag.set({ chain: chainId, pass }, lag_s);
    },
    countWork(report: WorkReport): void {
      work.inc({ worker: report.worker, result: report.kind });
      if (!('error' in report)) return;
      const about = report.kind === 'failed' ? { worker: report.worker, key: report.key } : { worker: report.worker };
      logger.warn({ ...about, error: textOf(report.error) }, `work ${report.kind}`);
    },
    alarm(reason: string, facts: Readonly<Record<string, unknown>>, message: string): void {
      alarms.inc({ reason });
      raised.set(reason, { count: (raised.get(reason)?.count ?? 0) + 1, message: message.slice(0, 1_000) });
      logger.error({ alarm: reason, ...facts }, message);
    },
  };
}

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/** Reports of the API and the workers to telemetry. */
export interface RequestSeen {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly duration_s: number;
}

export type WorkReport =
  | { readonly worker: string; readonly kind: 'done'; readonly key: string }
  /** Interrupted, not failed: the next runner continues it. */
  | { readonly worker: string; readonly kind: 'interrupted'; readonly key: string }
  | { readonly worker: string; readonly kind: 'failed'; readonly key: string; readonly error: unknown }
  /** The list could not be read, or a failure not recorded: retried after a pause. */
  | { readonly worker: string; readonly kind: 'stalled'; readonly error: unknown };
