/**
 * A backup is restored: Postgres is set back, or the event log. An operator then follows docs/operate/backup.md, and
 * nothing may be paid twice or lost.
 */
import { chains as catalogue } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { projectionSets } from '../../../projections/sets.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { runIn } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';
import type { Customers } from './customers.ts';
import { readAnew } from './ends.ts';
import type { Watched } from './invariants.ts';
import type { Instance } from './service.ts';

export interface Restoring {
  readonly chains: readonly SimulatedChain[];
  readonly instances: readonly Instance[];
  readonly customers: Customers;
  readonly watched: Watched;
  /** Ends all instances, and keeps them down. */
  readonly halt: () => void;
  /** Lets the first one start. */
  readonly resume: () => void;
  readonly isCalm: () => boolean;
}

/** One of this many worlds has its Postgres or its log restored. */
const restoringWorlds = 10;
const look_ms = 500;
const backupWithin_ms = 15_000;
const lostWithin_ms = 20_000;
const down_ms = 5_000;
/** Wait until nothing is pending on a chain: pending transactions could use nonces that an older log assigns again. */
const drained_ms = 150_000;
/** Interval of an operator's checks, until some time after the faults have stopped. */
const compare_ms = 20_000;
const comparisons = 30;

export type Restored = 'Postgres' | 'log' | null;

/** Restored store in this world. */
export const restoredIn = (random: Random): Restored =>
  random.below(restoringWorlds) > 0 ? null : random.pick(['Postgres', 'Postgres', 'log']);

/** Plans it where the seed has it. */
export function planRestore(random: Random, what: Restored, restoring: Restoring): void {
  if (what === null) return;
  const { agenda } = theRun();
  const lost_ms = 500 + random.below(lostWithin_ms);
  agenda.after(1_000 + random.below(backupWithin_ms), () => {
    if (what === 'Postgres') setPostgresBack(restoring, lost_ms);
    else setLogBack(restoring, lost_ms);
  });
}

function setPostgresBack({ halt, resume, isCalm }: Restoring, lost_ms: number): void {
  const { agenda, stores, note } = theRun();
  const copy = stores.postgres.copy();
  agenda.after(lost_ms, () => {
    if (isCalm()) return;
    note('Postgres is set back');
    halt();
    stores.postgres.restore(copy);
    agenda.after(down_ms, resume);
  });
}

/** Nobody remembers an order after the backup, so the backup is made only once everything is ordered. */
function setLogBack(restoring: Restoring, lost_ms: number): void {
  const { agenda, stores, note } = theRun();
  const { customers, chains, watched, halt, resume, isCalm } = restoring;
  if (!customers.orders.every(({ payment }) => payment !== null)) {
    agenda.after(look_ms, () => setLogBack(restoring, lost_ms));
    return;
  }
  const end = stores.log.tail();
  agenda.after(lost_ms, () => {
    if (isCalm()) return;
    note(`the log is set back to ${end}`);
    halt();
    stores.log.cutBack(end);
    watched.restored(stores.log.all());
    for (const chain of chains) chain.calm();
    agenda.after(drained_ms, () => {
      void rebuild().then(() => {
        resume();
        compareLater(restoring, comparisons);
      });
    });
  });
}

/** As `npm run rebuild -- --log-restored`: rebuilds read models from the present log, and reads chains again from its end. */
async function rebuild(): Promise<void> {
  const { log, postgres } = theRun().stores;
  const { view } = postgres;
  for (const { id } of catalogue) view.put('ops.payouts_to_pause', { chain_id: id, noted_at: instant(0) });
  for (const row of view.rows('ops.chain_cursors')) view.remove('ops.chain_cursors', row);
  for (const set of projectionSets) {
    const { anew, names } = await readAnew(set, log);
    for (const name of names) {
      for (const row of view.rows(name)) view.remove(name, row);
      for (const row of anew.view.rows(name)) view.put(name, row);
    }
    const generation = anew.view.rows('ops.projections')[0];
    if (generation) view.put('ops.projections', generation);
  }
}

/** The operator compares the treasury's transfers with the payments, holds those that are paid, and resumes payouts. */
function compareLater(restoring: Restoring, left: number): void {
  if (left === 0) return;
  theRun().agenda.after(compare_ms, () => {
    const [up] = restoring.instances.flatMap((instance) => instance.api() ?? []);
    const paid = paidElsewhere(restoring);
    // A failure is retried at the next check.
    if (up) runIn(up.process, () => void up.api.settle(paid).catch(() => {}));
    compareLater(restoring, left - 1);
  });
}

/** Payments that the chains show as paid by transactions which the restored log does not know. */
export function paidElsewhere({ customers, watched }: Pick<Restoring, 'customers' | 'watched'>): readonly string[] {
  return customers.orders.flatMap(({ payment, destination, receiver }) => {
    const state = payment && watched.payments.get(payment.terms.paymentId);
    if (!state) return [];
    const known = new Set(state.payout?.attempts.map(({ signed }) => signed.hash) ?? []);
    const strange = destination.truth.transfers().some(({ to, txHash }) => to === receiver && !known.has(txHash));
    return strange ? [state.terms.paymentId] : [];
  });
}
