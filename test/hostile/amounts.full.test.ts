/** One of two nodes on each chain, the one that is called first, reports false amounts and later becomes honest. */
import assert from 'node:assert/strict';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { honest, type NodeProxy, startProxy } from '../chains/proxy.ts';
import { createCustomers } from '../support/customers.ts';
import { inflating } from '../support/lies.ts';
import { createSandbox } from '../support/sandbox.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

const chainIds = [8453, 501, 1500] as const;
const routes: readonly (readonly [ChainId, ChainId])[] = [
  [8453, 501],
  [501, 8453],
  [1500, 8453],
];

describe('a node that reports a hundred times the paid amount, beside an honest one', () => {
  const sandbox = createSandbox({ chains: chainIds });
  const customers = createCustomers(sandbox);
  const fronts = new Map<ChainId, NodeProxy>();
  after(() => sandbox.destroy());

  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    const settings: Record<string, string> = {};
    for (const id of chainIds) {
      const rpcUrl = sandbox.file().chains[String(id)]?.rpcUrl ?? '';
      const front = await startProxy(rpcUrl);
      fronts.set(id, front);
      Object.assign(settings, { [`RPC_URLS_${id}`]: `${front.url},${rpcUrl}`, [`AGREE_${id}`]: '2' });
    }
    await sandbox.kill();
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
  });

  it('is reported; once it is honest each payment completes with the paid amount', async () => {
    for (const [id, front] of fronts) front.behave(inflating[chainOf(id).family]);
    for (const [from, to] of routes) {
      const order = customers.newOrder(from, to);
      await customers.create(order);
      await customers.pay(order);
    }
    await sandbox.until(async () => /^pi_alarms_total\{reason="nodesDisagree"\} [1-9]/m.test(await metrics()));
    for (const front of fronts.values()) front.behave(honest);
    await eachCompletesOnce(sandbox, customers);
    for (const { payment } of customers.orders) {
      const { source } = await sandbox.read(payment.id);
      assert.equal(source.amountReceived, source.amount, payment.id);
    }
  });

  it('leaves every payment whole', async () => {
    await sandbox.kill();
    isWhole(
      await sandbox.history(),
      customers.orders.map(({ payment }) => String(payment.id)),
    );
  });

  const metrics = async () => String((await sandbox.operations('/metrics')).body);
});
