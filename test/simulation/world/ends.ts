/** Final invariants of a run: nothing lost, all sums even, and the read models equal to those of the log. */
import { eventCodec } from '../../../commands/codec.ts';
import type { PaymentState } from '../../../domain/payment/state.ts';
import { instant } from '../../../domain/time.ts';
import { describeTables } from '../../../projections/apply.ts';
import { commitBatch } from '../../../projections/commit.ts';
import { createFold, introductionsIn, introductionsStream } from '../../../projections/fold.ts';
import type { ProjectionSet } from '../../../projections/projection.ts';
import { projectionSets } from '../../../projections/sets.ts';
import type { Sql } from '../../../projections/sql.ts';
import type { SimulatedChain } from '../kernel/ports.ts';
import { tables } from '../postgres/schema.ts';
import { createPostgres, type PostgresModel, type Row } from '../postgres/server.ts';
import { statementOf } from '../postgres/statements.ts';
import type { SimulatedLog } from '../store/log.ts';
import type { Order } from './customers.ts';
import type { RefundRequest } from './refundRequest.ts';
import { Violation } from './violation.ts';

/** Final transfers to addresses that payments gave out which are not recorded with them: the service sees them a little later. */
export function unseenPayins(
  chains: readonly SimulatedChain[],
  payments: ReadonlyMap<string, PaymentState>,
): readonly string[] {
  const recorded = new Set<string>();
  const deposits = new Map<string, string>();
  for (const payment of payments.values()) {
    if (payment === null) continue;
    for (const { transfer, phase } of payment.payins)
      if (phase === 'confirmed') recorded.add(`${transfer.chainId}:${transfer.txHash}`);
    for (const deposit of Object.values(payment.deposits))
      deposits.set(`${deposit.address.toLowerCase()}|${deposit.memo ?? ''}`, payment.terms.paymentId);
  }
  return chains.flatMap(({ chainId, truth }) =>
    truth.transfers().flatMap(({ to, memo, txHash, block }) => {
      const paymentId = deposits.get(`${to.toLowerCase()}|${memo ?? ''}`);
      const isKnown = paymentId === undefined || recorded.has(`${chainId}:${txHash}`);
      return isKnown || block > truth.final()
        ? []
        : `${txHash} on chain ${chainId} paid ${paymentId}, which does not know it`;
    }),
  );
}

/** Every transfer to an address that a payment gave out is recorded with it, and nothing else is. */
export function checkPayins(chains: readonly SimulatedChain[], payments: ReadonlyMap<string, PaymentState>): void {
  const [unseen] = unseenPayins(chains, payments);
  if (unseen !== undefined) throw new Violation('noPayinLost', unseen);
}

/** A payment with a reported payout was paid exactly that; no other was paid. */
export function checkPayouts(orders: readonly Order[], payments: ReadonlyMap<string, PaymentState>): void {
  for (const { payment, destination, receiver } of orders) {
    const state = payment && payments.get(payment.terms.paymentId);
    if (!state) continue;
    const paid = destination.truth.transfers().filter(({ to }) => to === receiver);
    const sum = paid.reduce((total, { amount }) => total + amount, 0n);
    // An operator holds payouts that a restored log does not know.
    const held = state.payoutHeld === null ? 0n : (state.funded?.payout ?? 0n);
    const said = state.payout?.settled ? state.payout.order.amount : held;
    const { paymentId } = state.terms;
    if (sum !== BigInt(said))
      throw new Violation('paidAsSaid', `${paymentId} says ${said} was paid out, the chain ${sum}`);
  }
}

/** Refunds went to their receivers in full, one of each asset for an order, and none went out for a refused order. */
export function checkRefunds(
  chains: readonly SimulatedChain[],
  requests: readonly RefundRequest[],
  payments: ReadonlyMap<string, PaymentState>,
): void {
  for (const { paymentId, key, receiver, outcome } of requests) {
    const own = payments.get(paymentId)?.refunds.filter(({ request }) => request.requestKey === key) ?? [];
    const assets = new Set(own.map(({ order }) => `${order.chainId} ${order.token.address}`));
    if (assets.size !== own.length || own.length > 0 !== (outcome === 'ordered'))
      throw new Violation('oneRefund', `${key} was ${outcome}, and ${paymentId} has ${own.length} refunds of it`);
    for (const { chainId, truth } of chains) {
      const there = own.filter(({ order }) => order.chainId === chainId);
      const said = there.reduce((sum, { settled, order }) => sum + (settled ? order.amount : 0n), 0n);
      const paid = truth.transfers().filter(({ to }) => to === receiver);
      const sum = paid.reduce((total, { amount }) => total + amount, 0n);
      if (sum !== said)
        throw new Violation(
          'refundedAsSaid',
          `${key} of ${paymentId} says ${said} on chain ${chainId}, the chain ${sum}`,
        );
    }
  }
}

const rowsOf = (model: PostgresModel, { name }: ProjectionSet): ReadonlyMap<string, readonly Row[]> =>
  new Map(
    [...tables.values()].filter(({ set }) => set === name).map((table) => [table.name, model.view.rows(table.name)]),
  );

const textOf = (row: Row): string =>
  JSON.stringify(
    Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)),
    (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value),
  );

/** Rebuilds the read models from the whole log, and compares row by row. */
export async function checkRebuild(log: SimulatedLog, live: PostgresModel): Promise<void> {
  for (const set of projectionSets) {
    const { anew } = await readAnew(set, log);
    compare(set, rowsOf(live, set), rowsOf(anew, set));
  }
}

/** Reads a set from the whole log. @returns the filled model, and the tables of the set in it */
export async function readAnew(
  set: ProjectionSet,
  log: SimulatedLog,
): Promise<{ readonly anew: PostgresModel; readonly names: readonly string[] }> {
  const anew = createPostgres(() => 0);
  const sql: Sql = {
    query: async <R>(text: string, values: readonly unknown[] = []) =>
      statementOf(text).run(anew.view, values, text) as readonly R[],
  };
  prepare(anew, set);
  const fold = createFold({
    read: eventCodec.read,
    introduced: introductionsIn(log.stream(introductionsStream), eventCodec.read),
    history: async (stream, before) => log.stream(stream).filter(({ revision }) => revision < before),
  });
  const deps = {
    db: { ...sql, transaction: <T>(work: (tx: Sql) => Promise<T>) => work(sql) },
    set,
    tables: await describeTables(sql, `${set.name}_1`),
    fold,
    crash: () => {},
  };
  const first = {
    set: set.name,
    number: 1,
    schema: `${set.name}_1`,
    status: 'active',
    position: null,
    eventId: null,
    applied: null,
    events: 0n,
  } as const;
  await commitBatch(deps, first, { events: log.all(), position: log.tail() });
  return { anew, names: [...rowsOf(anew, set).keys()] };
}

/** The first generation of a set, empty. */
export function prepare(model: PostgresModel, { name, version }: ProjectionSet): void {
  model.view.put('ops.projections', {
    set_name: name,
    generation: 1,
    version,
    status: 'active',
    position: null,
    event_id: null,
    applied_position: null,
    applied_id: null,
    events: 0n,
    stopped: null,
    updated_at: instant(0),
  });
}

type TableRows = ReadonlyMap<string, readonly Row[]>;

function compare({ name }: ProjectionSet, live: TableRows, anew: TableRows): void {
  for (const [table, rows] of live) {
    const [held, made] = [rows, anew.get(table) ?? []].map((each) => each.map(textOf).sort()) as [string[], string[]];
    const other = held.findIndex((row, at) => row !== made[at]);
    if (held.length === made.length && other < 0) continue;
    const message = `${table} of ${name} has ${held.length} rows, rebuilt ${made.length}; live ${held[other]} anew ${made[other]}`;
    throw new Violation('rebuildIsLive', message);
  }
}
