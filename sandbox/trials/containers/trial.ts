/** One compose file, run for real: payments under faults, an operator's commands, stop and restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../../random.ts';
import { addTo, auditOf, checkPayments, checkSums, type Flows, isPaidOut, takeStock } from '../check.ts';
import { type Customers, createCustomers, type Interruptions, type Placed, tokenOf, unitsOf } from '../customers.ts';
import { orderOf } from '../orders.ts';
import { inflict, messageOf } from '../world.ts';
import { calm, type Fault, plans } from './faults.ts';
import {
  checkMonitoring,
  filingCommands,
  operatorCommands,
  restoreStores,
  rotateMasterKey,
  type Tried,
  typeAll,
  typeFiling,
} from './operator.ts';
import type { ContainerWorld } from './world.ts';

export interface Row extends Interruptions {
  readonly what: string;
  /** Acknowledged requests to create, and the number of paid ones. */
  readonly created: number;
  readonly payments: number;
  /** Time from the fault until everything is healthy and every earlier payment is paid out. */
  readonly whole_ms: number;
  readonly wrong: readonly string[];
}

export interface Trialled {
  readonly rows: readonly Row[];
  readonly typed: readonly Tried[];
}

export interface TrialOptions {
  readonly signal: AbortSignal;
  readonly step: (text: string) => void;
  readonly onlyFaults?: RegExp | undefined;
}

/** For a fault with a standby: payments paid within this time are paid out before the fault is over. */
const first_s = 5;
const order_ms = 1_500;
/** Callers that create orders which nobody pays, one after the other. */
const callers = 2;
const callPause_ms = 100;
const paidOut_ms = 300_000;

export async function trial(world: ContainerWorld, options: TrialOptions): Promise<Trialled> {
  const { signal, step } = options;
  const { project } = world;
  const trade = await openTrade(world, signal);
  const [rows, typed]: [Row[], Tried[]] = [[], []];
  const add = (row: Row) => {
    rows.push(row);
    step(`${row.what}: ${textOf(row)}`);
  };
  const afterwards = async (what: string, work: () => Promise<void>) =>
    add(
      await measure(what, trade, [0, 0], async () => {
        await work();
        await project.untilHealthy();
        return trade.check();
      }),
    );
  const under = (fault: Fault) =>
    measure(fault.says, trade, trade.counts(), () => payDuring(world, trade, fault, signal));
  try {
    add(await under(calm));
    for (const fault of plans[project.shape.name].filter(({ says }) => options.onlyFaults?.test(says) ?? true)) {
      signal.throwIfAborted();
      step(`${fault.says} …`);
      add(await under(fault));
    }
  } finally {
    await trade.close();
  }
  await trade.untilPaidOut(trade.placed);
  const paidId = trade.placed[0]?.payment.id ?? '';
  typed.push(...(await typeAll(project, operatorCommands(paidId), step)));
  if (project.shape.name === 'one') typed.push(await checkMonitoring(project, step));
  await afterwards('down and up', async () => {
    await project.down();
    await project.up();
  });
  typed.push(...(await typeFiling(project, filingCommands(paidId, new Date().toISOString().slice(0, 7)), step)));
  await afterwards('both stores lost and restored', () => restoreStores(project, typed, step));
  if (project.shape.hasSigner) await afterwards('master key changed', () => rotateMasterKey(project, typed, step));
  const [finding = null] = (await auditOf(world)).findings;
  step(`npm run -s audit: ${finding ?? 'well'}`);
  typed.push({ command: 'npm run -s audit', wrong: finding });
  return { rows, typed };
}

/** Customers who pay, and callers who create orders that nobody pays, until the trade is closed. */
interface Trade extends Pick<Customers, 'takeInterruptions' | 'placed'> {
  /** Numbers of created and of paid payments. */
  counts(): readonly [created: number, payments: number];
  /** Stops new orders; started ones are placed and paid. @throws Error for an order that failed */
  close(): Promise<void>;
  /** @throws Error that names late ones */
  untilPaidOut(placed: readonly Placed[], within_ms?: number): Promise<void>;
  /** Every acknowledged payment exists unchanged, and the chains agree. @returns a sentence for each problem */
  check(): Promise<readonly string[]>;
}

async function openTrade(world: ContainerWorld, signal: AbortSignal): Promise<Trade> {
  const { name } = world.project.shape;
  const customers = createCustomers(world, { signal, payTries: 1 });
  const { placed } = customers;
  const unpaid: Placed[] = [];
  const closing = new AbortController();
  const before = await takeStock(world, []);
  const random = randomOf(name);

  async function call(caller: number): Promise<void> {
    const own = randomOf(`${name} ${caller}`);
    for (let number = caller * 1_000_000; !closing.signal.aborted; number += 1) {
      unpaid.push(await customers.create(orderOf(own, number, world.chainIds, { never: 1 })));
      await sleep(callPause_ms);
    }
  }

  const trading = Promise.allSettled([
    customers.arrive((number) => orderOf(random, number, world.chainIds, { exact: 1 }), {
      ...{ count: Number.POSITIVE_INFINITY, every_ms: order_ms, until: closing.signal },
    }),
    ...Array.from({ length: callers }, (_, at) => call(at + 1)),
  ]);

  function throwFailure(): void {
    const [failure] = customers.failures;
    if (failure !== undefined) throw new Error(failure);
  }

  return {
    placed,
    takeInterruptions: customers.takeInterruptions,
    counts: () => [placed.length + unpaid.length, placed.length],
    async close() {
      closing.abort();
      const failed = (await trading).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      throwFailure();
    },
    async untilPaidOut(some, within_ms = paidOut_ms) {
      throwFailure();
      const late = (await customers.untilEnded([...some], within_ms)).filter(({ end }) => !isPaidOut(end));
      const states = late.slice(0, 10).map(({ payment, end }) => `${payment.id} ${end.status}`);
      if (late.length > 0) throw new Error(`not paid out after ${within_ms / 1_000} s: ${states.join(', ')}`);
    },
    async check() {
      const [ended, kept] = [await customers.untilEnded(placed, 0), await customers.poll(unpaid, () => true, 0)];
      const changed = kept.filter(({ payment, end }) => end.id !== payment.id || end.status !== 'payment_unpaid');
      return [
        ...(await checkPayments(world, ended)),
        ...changed.map(({ order, end }) => `${order.orderId} (${end.id}) is ${end.status}`),
        ...checkSums(world, flowsOf(placed), before, await takeStock(world, placed)),
      ];
    },
  };
}

/** Money of paid orders: all of them are paid out. */
function flowsOf(placed: readonly Placed[]): Flows {
  const [received, left] = [new Map<string, bigint>(), new Map<string, bigint>()];
  for (const { order, payment } of placed.filter(({ paid }) => paid)) {
    const [source, destination] = [tokenOf(order.from, 'USDC'), tokenOf(order.to, 'USDC')];
    addTo(received, order.from, source, unitsOf(payment.source.amount ?? '', source));
    addTo(left, order.to, destination, unitsOf(order.amount, destination));
  }
  return { received, left, refunded: new Map() };
}

/** @param before counts at the start @param work returns a sentence for each problem */
async function measure(
  what: string,
  trade: Trade,
  [createdBefore, paymentsBefore]: readonly [number, number],
  work: () => Promise<readonly string[]>,
): Promise<Row> {
  const since_ms = performance.now();
  trade.takeInterruptions();
  const wrong = await work();
  const [created, payments] = trade.counts();
  return {
    ...{ what, created: created - createdBefore, payments: payments - paymentsBefore, wrong },
    ...trade.takeInterruptions(),
    whole_ms: performance.now() - since_ms,
  };
}

/** @returns a sentence for each problem during the fault and after it */
async function payDuring(
  { project }: ContainerWorld,
  trade: Trade,
  { strike, lasts_s, hasStandby }: Fault,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  await inflict(strike, project, randomOf(project.shape.name), async () => {
    const over = sleep(lasts_s * 1_000, undefined, { signal });
    over.catch(() => {});
    if (hasStandby) {
      await sleep(first_s * 1_000, undefined, { signal });
      await trade
        .untilPaidOut(
          trade.placed.filter(({ paid }) => paid),
          (lasts_s - first_s) * 1_000,
        )
        .catch((error: unknown) => wrong.push(`no instance took over: ${messageOf(error)}`));
    }
    await over;
  });
  await project.untilHealthy();
  await trade.untilPaidOut(trade.placed).catch((error: unknown) => wrong.push(messageOf(error)));
  return wrong;
}

/** Returns a row in words. */
const textOf = ({ created, payments, wrong, ...row }: Row): string =>
  `${created} created, ${payments} of them paid, repeated ${repeatsOf(row) || 'nothing'}, longest wait ${secondsOf(row.longestWait_ms)}: ${wrong.join('; ') || 'well'}`;

export const repeatsOf = ({ repeated }: Pick<Row, 'repeated'>): string =>
  [...repeated].map(([reason, count]) => `${count} (${reason})`).join(', ');

export const secondsOf = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
