/** One compose file, run for real: start, a merchant, payments under faults, an operator's commands, stop and restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAddress } from 'viem/accounts';
import { file, restored } from './backup.ts';
import type { Chains } from './chains.ts';
import { type Customers, openCustomers } from './customers.ts';
import type { Fault } from './faults.ts';
import { filingCommands, operatorCommands, registerApps, type Tried, typeAll } from './operator.ts';
import { plans } from './plan.ts';
import type { Project } from './project.ts';
import { rotated } from './rotation.ts';
import type { Keys } from './settings.ts';
import { watched } from './watched.ts';

export interface Row {
  readonly what: string;
  /** Acknowledged requests to create, and the number of paid ones. */
  readonly created: number;
  readonly payments: number;
  /** Number of repeated requests, by their failed answer. */
  readonly repeated: ReadonlyMap<string, number>;
  readonly longestWait_ms: number;
  /** Time from the fault until everything is healthy and every earlier payment is paid out. */
  readonly whole_ms: number;
  readonly wrong: readonly string[];
}

export interface Trialled {
  readonly rows: readonly Row[];
  readonly typed: readonly Tried[];
}

export interface TrialOptions {
  readonly keys: Keys;
  readonly chains: Chains;
  readonly signal: AbortSignal;
  readonly step: (text: string) => void;
  readonly onlyFaults?: RegExp | undefined;
}

const calm_s = 15;
/** For a fault with a standby: payments paid within this time are paid out before the fault is over. */
const first_s = 5;

/** @param project is up and healthy */
export async function trial(project: Project, options: TrialOptions): Promise<Trialled> {
  const { keys, chains, signal, step } = options;
  step('registering a wallet app and a merchant, as an operator types it');
  const apiKey = await registerApps(project, privateKeyToAddress(keys.payers[0] ?? '0x'));
  const customers = await openCustomers({ ...keys, ...{ url: project.url, apiKey, chains, signal } });
  const rows: Row[] = [];
  const tell = (row: Row) => {
    rows.push(row);
    step(`${row.what}: ${rowText(row)}`);
  };
  try {
    tell(await under(project, customers, calm, signal));
    for (const fault of plans[project.shape.name].filter(({ says }) => options.onlyFaults?.test(says) ?? true)) {
      signal.throwIfAborted();
      step(`${fault.says} …`);
      tell(await under(project, customers, fault, signal));
    }
  } finally {
    await customers.close();
  }
  await customers.untilPaidOut(customers.placed);
  const [paid] = customers.placed;
  const typed = await typeAll(project, operatorCommands(paid?.payment.id ?? ''), step);
  if (project.shape.name === 'one') typed.push(await watched(project, step));
  tell(await afterwards('down and up', project, customers, () => downAndUp(project)));
  typed.push(
    ...(await file(project, filingCommands(paid?.payment.id ?? '', new Date().toISOString().slice(0, 7)), step)),
  );
  tell(await afterwards('both stores lost and restored', project, customers, () => restored(project, typed, step)));
  if (project.shape.hasSigner)
    tell(await afterwards('master key changed', project, customers, () => rotated(project, typed, step)));
  typed.push(...(await typeAll(project, [{ command: 'npm run -s audit', says: /./ }], step)));
  return { rows, typed };
}

/** Returns a row in words. */
const rowText = ({ created, payments, repeated, longestWait_ms, wrong }: Row): string =>
  `${created} created, ${payments} of them paid, repeated ${[...repeated].map(([why, count]) => `${count} (${why})`).join(', ') || 'nothing'}, longest wait ${seconds(longestWait_ms)}: ${wrong.join('; ') || 'well'}`;

const createdBy = ({ placed, unpaid }: Customers): number => placed.length + unpaid.length;

const calm: Fault = { says: 'nothing', lasts_s: calm_s, strike: async () => async () => {} };

async function under(project: Project, customers: Customers, fault: Fault, signal: AbortSignal): Promise<Row> {
  const [before, created, since] = [customers.placed.length, createdBy(customers), performance.now()];
  const wrong: string[] = [];
  const tell = (error: Error) => void wrong.push(error.message);
  customers.repeated();
  customers.longestWait_ms();
  const takeBack = await fault.strike(project);
  try {
    const over = sleep(fault.lasts_s * 1_000, undefined, { signal });
    over.catch(() => {});
    if (fault.hasStandby) {
      await sleep(first_s * 1_000, undefined, { signal });
      const meanwhile = customers.placed.filter(({ paid }) => paid);
      await customers
        .untilPaidOut(meanwhile, (fault.lasts_s - first_s) * 1_000)
        .catch(({ message }: Error) => wrong.push(`nobody took over: ${message}`));
    }
    await over;
  } finally {
    await takeBack();
  }
  await project.untilHealthy();
  await customers.untilPaidOut(customers.placed).catch(tell);
  return {
    what: fault.says,
    created: createdBy(customers) - created,
    payments: customers.placed.length - before,
    repeated: customers.repeated(),
    longestWait_ms: customers.longestWait_ms(),
    whole_ms: performance.now() - since,
    wrong,
  };
}

/** Every acknowledged payment exists unchanged, and the chains agree. */
async function afterwards(
  what: string,
  project: Project,
  customers: Customers,
  work: () => Promise<void>,
): Promise<Row> {
  const since = performance.now();
  customers.repeated();
  customers.longestWait_ms();
  await work();
  await project.untilHealthy();
  const wrong = await customers.check();
  return {
    what,
    created: createdBy(customers),
    payments: customers.placed.length,
    repeated: customers.repeated(),
    longestWait_ms: customers.longestWait_ms(),
    whole_ms: performance.now() - since,
    wrong,
  };
}

async function downAndUp(project: Project): Promise<void> {
  await project.down();
  await project.up();
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
