/**
 * A backup is restored: Postgres is set back, or the event log. Then follows what docs/operate/backup.md has an operator do, and
 * nothing may be paid twice or lost by it.
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

/** Of so many worlds, one has its Postgres or its log set back. */
const restoringWorlds = 10;
const look_ms = 500;
const backupWithin_ms = 15_000;
const lostWithin_ms = 20_000;
const down_ms = 5_000;
/** Until nothing is on its way to a chain any more: what is pending could use the nonces that an older log gives again. */
const drained_ms = 150_000;
/** An operator looks now and then, until faults have stopped and longer. */
const compare_ms = 20_000;
const comparisons = 30;

export type Restored = 'Postgres' | 'log' | null;

/** What is set back in this world. */
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

/** What was ordered after the backup is known to nobody: so there is one only once everything is ordered. */
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

/** As `npm run rebuild -- --log-restored`: read models out of the log as it is, and chains are read again from where it ends. */
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

/** The operator compares the treasury's transfers with the payments, holds what they paid, and lets payouts go on. */
function compareLater(restoring: Restoring, left: number): void {
  if (left === 0) return;
  theRun().agenda.after(compare_ms, () => {
    const [up] = restoring.instances.flatMap((instance) => instance.api() ?? []);
    const paid = paidElsewhere(restoring);
    // What fails is tried again with the next look.
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
