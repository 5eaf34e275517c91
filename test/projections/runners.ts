import { eventCodec } from '../../commands/codec.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { openLeases } from '../../src/postgres/leases.ts';
import { listen } from '../../src/postgres/listen.ts';
import { systemClock } from '../../src/process/system.ts';
import {
  type ProjectionReport,
  projectedWaiter,
  type RunProjections,
  runProjections,
} from '../../src/readmodels/projections.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { patience_ms } from '../support/patience.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';

/** Runs projection sets over a log that a spec writes. */
export interface Runners {
  readonly database: Database;
  readonly world: World;
  /** Ends all that run. */
  stopAll(): Promise<void>;
  /** Aborts all runners. */
  stop: AbortController;
  /** Starts a runner in the role of a separate process, and returns its reports. */
  start(more?: Partial<RunProjections>): {
    readonly ended: Promise<void>;
    readonly reports: readonly ProjectionReport[];
    readonly committed: Promise<void>;
  };
  /** Appends a new payment with this history. @returns the position of its last event */
  live(who: number, history: readonly PaymentEvent[]): Promise<bigint>;
  /** Appends a payment that is paid out. */
  pay(who: number): Promise<bigint>;
  /** Resolves when the rows contain everything up to the position. */
  reach(position: bigint, set?: string): Promise<void>;
  statuses(): Promise<readonly string[]>;
}

/** Called inside a `describe`; each of its specs has its own database and log. */
export function runners(): Runners {
  const running: Promise<unknown>[] = [];
  const made = {} as { database: Database; world: World; stop: AbortController };

  beforeEach(async () => {
    made.database = await freshDatabase();
    made.world = createWorld();
    made.stop = new AbortController();
  });
  const stopAll = async () => {
    made.stop.abort();
    await Promise.allSettled(running.splice(0));
  };
  afterEach(stopAll);

  const live: Runners['live'] = (who, [first, ...rest]) => {
    const own = { ...first, data: { ...first?.data, paymentId: paymentIdOf(who) } } as PaymentEvent;
    return append(made.world, `payment-${paymentIdOf(who)}`, [own, ...rest]);
  };

  return Object.assign(made, {
    stopAll,
    live,
    pay: (who: number) => live(who, done),

    start(more: Partial<RunProjections> = {}) {
      const { database, world, stop } = made;
      const reports: ProjectionReport[] = [];
      const committed = Promise.withResolvers<void>();
      const report = (told: ProjectionReport) => {
        reports.push(told);
        if (told.kind === 'committed') committed.resolve();
      };
      const leases = openLeases({ database, clock: systemClock });
      const ended = runProjections({
        store: world.store,
        database,
        leases,
        codec: eventCodec,
        set: workSet,
        clock: systemClock,
        signal: stop.signal,
        report,
        ...more,
      }).finally(leases.close);
      running.push(ended);
      ended.catch(() => {});
      return { ended, reports, committed: committed.promise };
    },

    reach: (position: bigint, set = 'work') =>
      projectedWaiter(made.database, listen(made.database, ['projected']), set)(position, { timeout_ms: patience_ms }),

    async statuses() {
      const rows = await made.database.query<{ status: string }>('SELECT status FROM payments ORDER BY payment_id');
      return rows.map(({ status }) => status);
    },
  });
}
