/** Checks that every payment of a sandbox's customers completed once, and every event was reported once. */
import assert from 'node:assert/strict';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import type { Customers } from './customers.ts';
import type { History } from './history.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Serves the orders that are still open. The service must run.
 * @param since index of the first order to check
 * @returns the ids of the checked payments
 */
export async function eachCompletesOnce(sandbox: Sandbox, customers: Customers, since = 0): Promise<readonly string[]> {
  const done = (await customers.finish()).slice(since);
  const orders = customers.orders.slice(since);
  assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
  assert.equal(new Set(done.map(({ id }) => id)).size, orders.length);
  for (const { to, receiver, amount } of orders) {
    const decimals = findToken(chainOf(to), 'USDC')?.decimals ?? 0;
    assert.equal(await sandbox.balance(to, 'USDC', receiver), parseUnits(amount, decimals), receiver);
  }
  await sandbox.until(async () => (await sandbox.query('SELECT FROM todo_webhooks')).length === 0);
  for (const { id } of done) await sandbox.until(() => sandbox.webhooks(id).length >= 2);
  for (const { id } of done) {
    const events = sandbox.webhooks(id).map(({ body, valid }) => {
      assert.ok(valid, body);
      return JSON.parse(body).event_id;
    });
    assert.deepEqual([events.length, new Set(events).size], [2, 2], id);
  }
  return done.map(({ id }) => id);
}

/**
 * The log has every payment once, each with one funding and one payout, and no chain of hashes is broken.
 * @param reopened payments whose chain went back: their funding or payout may have happened again, or be outstanding
 */
export function isWhole(history: History, paymentIds: readonly string[], reopened: readonly string[] = []): void {
  for (const [stream, events] of history) assert.equal(verifyChain(events), null, stream);
  const payments = [...history.keys()].filter((stream) => stream.startsWith('payment-'));
  assert.deepEqual(payments.toSorted(), paymentIds.map((id) => `payment-${id}`).toSorted());
  for (const stream of payments.filter((each) => !reopened.includes(each.slice('payment-'.length)))) {
    const types = history.get(stream)?.map(({ type }) => type) ?? [];
    for (const once of ['PaymentFunded', 'PayoutConfirmed'])
      assert.equal(types.filter((type) => type === once).length, 1, `${once} in ${stream}`);
  }
}
