/** Runs payments during a fault of real nodes and checks the permitted effects: each payment completes once, and each trial is a row of a table. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { type Customers, createCustomers, type Order } from '../support/customers.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

export type Route = readonly [ChainId, ChainId];

export interface Row {
  readonly family: string;
  readonly scenario: string;
  readonly payments: number;
  /** From the end of the fault until the service is ready. */
  readonly ready_s: number;
  /** Alarms that the fault raised. */
  readonly alarms: string;
}

export interface FaultTrials {
  readonly customers: Customers;
  /** Creates payments and pays them: those from one chain one after the other, as its payer's nonces follow one another. */
  serve(...orders: readonly Order[]): Promise<void>;
  /**
   * On each route whose chains are all affected (Base counts as affected), one payment is under way and one has just been paid when the fault
   * occurs; another arrives after it. All complete once, with the amount that was paid.
   */
  survive(scenario: string, ids: readonly ChainId[], fault: () => Promise<void>): Promise<void>;
  /** Number of each alarm by reason, since the service's start. */
  alarms(): Promise<ReadonlyMap<string, number>>;
  /** Seconds until the service is ready. */
  untilReady(): Promise<number>;
  /** Prints a row, and appends it as JSON to the file that REAL_CHAINS_TABLE names. */
  note(row: Row): void;
  /** Pays again if the order's transaction has left its EVM chain, as its wallet does. */
  payAgainIfLost(order: Order): Promise<void>;
  /** Ends the service and checks the history of every payment. @param reopened orders that may be funded or paid out in more than one event */
  allAreWhole(reopened?: readonly Order[]): Promise<void>;
}

export function createFaultTrials(sandbox: Sandbox, routes: readonly Route[]): FaultTrials {
  const customers = createCustomers(sandbox);

  const trials: FaultTrials = {
    customers,

    async serve(...orders) {
      const lines = Map.groupBy(orders, ({ from }) => from);
      await Promise.all(
        [...lines.values()].map(async (line) => {
          for (const order of line) {
            await customers.create(order);
            await customers.pay(order);
          }
        }),
      );
    },

    async survive(scenario, ids, fault) {
      const affected = routes.filter((route) => route.every((id) => id === 8453 || ids.includes(id)));
      const since = customers.orders.length;
      const before = await trials.alarms();
      const early = affected.map(([from, to]) => customers.newOrder(from, to));
      await trials.serve(...early);
      await Promise.race(
        early.map(({ payment }) => sandbox.follow(payment.id, ({ status }) => status !== 'payment_unpaid')),
      );
      const late = affected.map(([from, to]) => customers.newOrder(from, to));
      await trials.serve(...late);
      await fault();
      const ready_s = await trials.untilReady();
      for (const order of [...early, ...late]) await trials.payAgainIfLost(order);
      await trials.serve(...affected.map(([from, to]) => customers.newOrder(from, to)));
      await eachCompletesOnce(sandbox, customers, since);
      for (const { payment } of customers.orders.slice(since)) {
        const { source } = await sandbox.read(payment.id);
        assert.equal(source.amountReceived, source.amount, payment.id);
      }
      const family = [...new Set(ids.map((id) => chainOf(id).family))].join(', ');
      const raised = raisedSince(before, await trials.alarms());
      trials.note({ family, scenario, payments: customers.orders.length - since, ready_s, alarms: raised });
    },

    async payAgainIfLost(order) {
      if (chainOf(order.from).family !== 'evm') return;
      const receipt = await sandbox.rpc(order.from, 'eth_getTransactionReceipt', [order.payinHash]);
      if (receipt === null) order.payinHash = await sandbox.pay(order.payment);
    },

    async alarms() {
      const { body } = await sandbox.operations('/metrics');
      const lines = String(body).matchAll(/^pi_alarms_total\{reason="(\w+)"\} (\d+)$/gm);
      return new Map([...lines].map(([, reason = '', count]) => [reason, Number(count)]));
    },

    async untilReady() {
      const began_ms = performance.now();
      await sandbox.until(async () => (await sandbox.operations('/readyz')).status === 200);
      return Math.round((performance.now() - began_ms) / 100) / 10;
    },

    note(row) {
      process.stdout.write(`      ${Object.values(row).join(' | ')}\n`);
      const file = process.env['REAL_CHAINS_TABLE'];
      if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
    },

    async allAreWhole(reopened = []) {
      await sandbox.kill();
      const ids = (orders: readonly Order[]) => orders.map(({ payment }) => String(payment.id));
      isWhole(await sandbox.history(), ids(customers.orders), ids(reopened));
    },
  };
  return trials;
}

/** Reasons of alarms that were raised in between; `none` when there are none. */
export const raisedSince = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string =>
  [...after].flatMap(([reason, count]) => (count > (before.get(reason) ?? 0) ? [reason] : [])).join(', ') || 'none';
