/** Allowed effects of an outage on a sandbox, with customers before, during and after it. */
import assert from 'node:assert/strict';
import type { ChainId } from '../../domain/chains.ts';
import type { Customers } from './customers.ts';
import type { Answer, Sandbox } from './sandbox.ts';

export interface Route {
  readonly from: ChainId;
  readonly to: ChainId;
}

export interface Outages {
  /**
   * Customers pay on each route during the outage. Once it is over the service is ready again automatically and completes their payments.
   */
  whileCustomersCome(outage: () => Promise<void>): Promise<void>;
  readiness(): Promise<Answer>;
  /** Waits until the service is ready. */
  untilReady(): Promise<void>;
  /** Waits until readiness names this store, and the other one is well. */
  says(away: 'postgres' | 'eventStore'): Promise<void>;
  /** The first payment. */
  read(): Promise<Answer>;
  /** Creates a payment on the first route. */
  create(): Promise<Answer>;
  /** The answer is a proper 503. */
  isUnavailable(ask: () => Promise<Answer>): Promise<void>;
}

/** @param pause_ms between two orders of a route. Default: none */
export function createOutages(
  sandbox: Sandbox,
  customers: Customers,
  routes: readonly [Route, ...Route[]],
  pause_ms = 0,
): Outages {
  const [{ from, to }] = routes;
  const readiness = () => sandbox.operations('/readyz');
  const untilReady = () => sandbox.until(async () => (await readiness()).status === 200);

  return {
    readiness,
    untilReady,
    read: () => sandbox.callOnce('GET', `/payment-api/payments/${customers.orders[0]?.payment.id}`),
    create: () => sandbox.tryToCreate(customers.bodyOf(customers.newOrder(from, to)), sandbox.file().wallet.ordersKey),

    async whileCustomersCome(outage) {
      const closing = new AbortController();
      const coming = routes.map((route) => customers.come(route.from, route.to, closing.signal, pause_ms));
      const begun = customers.orders.length;
      await sandbox.until(() => customers.orders.slice(begun).some(({ payinHash }) => payinHash !== undefined));
      try {
        await outage();
        await untilReady();
      } finally {
        closing.abort();
      }
      await Promise.all(coming);
    },

    async says(away) {
      const other = away === 'postgres' ? 'eventStore' : 'postgres';
      await sandbox.until(async () => {
        const { status, body, headers } = await readiness();
        if (body.checks[away].ok) return false;
        assert.deepEqual([status, body.ready], [503, false]);
        assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
        return body.checks[other].ok;
      });
      assert.equal((await sandbox.callOnce('GET', '/healthz')).status, 200);
    },

    async isUnavailable(ask) {
      const { status, headers, body } = await ask();
      assert.equal(status, 503, JSON.stringify(body));
      assert.equal(body.error, 'unavailable');
      assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
    },
  };
}
