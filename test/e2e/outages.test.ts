/** What the service stands on goes away while payments are in flight: honest answers meanwhile, recovery by itself, nothing doubled. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { startPostgres } from '../../sandbox/postgres.ts';
import { createCustomers } from '../support/customers.ts';
import { historyOf } from '../support/history.ts';
import { onStop } from '../support/hooks.ts';
import { familyOf, freeze } from '../support/processTable.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';

describe('an outage', () => {
  const sandbox = createSandbox({ chains: [8453, 1] });
  const customers = createCustomers(sandbox);
  before(() => sandbox.start({ POLL_MS_8453: '100', POLL_MS_1: '100' }));
  after(() => sandbox.destroy());

  it('of a Postgres that hangs: 503 until it goes on, also when every lease was lost', () =>
    whileCustomersCome(async () => {
      const goOn = freeze(familyOf(pidOf('postgres')));
      try {
        await says('postgres');
        await isUnavailable(read);
        await isUnavailable(create);
        await sandbox.until(async () => !/^pi_role_active\{.*\} 1$/m.test((await sandbox.operations('/metrics')).body));
        // Longer than it takes to try in vain to have the leases back.
        for (let tries = 0; tries < 8; tries += 1) await isUnavailable(read);
      } finally {
        goOn();
      }
    }));

  it('of a Postgres that was killed: 503 until it is back', () =>
    whileCustomersCome(async () => {
      const [pid, , , port] = readFileSync(join(sandbox.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
      try {
        await says('postgres');
        await isUnavailable(read);
        // Who may create is known for a second without asking again.
        await sandbox.until(async () => (await create()).status !== 201);
        await isUnavailable(create);
      } finally {
        await startAgain(Number(port));
      }
    }));

  it('of an event store that was killed: it is started again, reads are answered all the time', () =>
    whileCustomersCome(async () => {
      const known = customers.orders[0]?.payment.id;
      process.kill(eventStorePid(), 'SIGKILL');
      for (let tries = 0; tries < 20; tries += 1) {
        assert.equal((await sandbox.callOnce('GET', `/payment-api/payments/${known}`)).status, 200);
      }
    }));

  it('of an event store that hangs: what was sent is sent again and written once', () =>
    whileCustomersCome(async () => {
      const goOn = freeze([eventStorePid()]);
      try {
        const creating = customers.create(customers.newOrder(8453, 1));
        // As long as several rounds of readiness: longer than one attempt to append may take.
        for (let tries = 0; tries < 4; tries += 1) await says('eventStore');
        goOn();
        await creating;
      } finally {
        goOn();
      }
    }));

  it('of a chain’s node: payouts wait and go on', async () => {
    const order = customers.newOrder(8453, 1);
    await customers.create(order);
    const waiting = async () =>
      (await sandbox.callOnce('GET', `/payment-api/payments/${order.payment.id}`)).body.status;
    const rpcUrl = sandbox.file().chains['1']?.rpcUrl ?? '';
    await endProcess(pidOf('chain-1'));
    await customers.pay(order);
    await sandbox.follow(order.payment.id, ({ status }) => status === 'payment_bridging');
    const before = await failures();
    await sandbox.until(async () => (await failures()) > before + 1);
    assert.equal(await waiting(), 'payment_bridging');

    const stateFile = join(sandbox.dataDir, 'chains', '1.json');
    const port = Number(new URL(rpcUrl).port);
    const anvil = await startAnvil({ chainId: 1, port, stateFile, mining: { blockTime_s: 0.2 } });
    onStop(() => anvil.stop());
    assert.equal((await sandbox.follow(order.payment.id)).status, 'payment_payout_completed');

    async function failures(): Promise<number> {
      const work = /^pi_work_total\{worker="payouts:1",result="failed"\} (\d+)$/m;
      return Number(work.exec((await sandbox.operations('/metrics')).body)?.[1] ?? 0);
    }
  });

  it('has left every payment whole: completed, paid out once, told twice, its history unbroken', async () => {
    const done = await customers.finish();
    assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    for (const { to, receiver, amount } of customers.orders) {
      assert.equal(await sandbox.balance(to, 'USDC', receiver), parseUnits(amount, 6));
    }
    await sandbox.until(async () => (await sandbox.query('SELECT FROM todo_webhooks')).length === 0);
    for (const { id } of done) assert.equal(sandbox.webhooks(id).length, 2);
    await sandbox.kill();
    const history = await historyOf(sandbox.dataDir);
    for (const events of history.values()) assert.equal(verifyChain(events), null);
    assert.equal([...history.keys()].filter((stream) => stream.startsWith('payment-')).length, done.length);
  });

  /** Customers come before, during and after; once it is over the service is ready again by itself and completes their payments. */
  async function whileCustomersCome(outage: () => Promise<void>): Promise<void> {
    const closing = new AbortController();
    const coming = [customers.come(8453, 1, closing.signal), customers.come(1, 8453, closing.signal)];
    const begun = customers.orders.length;
    await sandbox.until(() => customers.orders.slice(begun).some(({ payinHash }) => payinHash !== undefined));
    try {
      await outage();
      await sandbox.until(async () => (await ready()).status === 200);
    } finally {
      closing.abort();
    }
    await Promise.all(coming);
  }

  const ready = (): Promise<Answer> => sandbox.operations('/readyz');
  const read = () => sandbox.callOnce('GET', `/payment-api/payments/${customers.orders[0]?.payment.id}`);
  const create = () =>
    sandbox.tryToCreate(customers.bodyOf(customers.newOrder(8453, 1)), sandbox.file().wallet.ordersKey);

  /** Postgres on the same data and port. */
  async function startAgain(port: number): Promise<void> {
    const again = { dataDir: join(sandbox.dataDir, 'postgres'), port };
    const postgres = await startPostgres({ ...again, logFile: join(sandbox.dataDir, 'logs', 'postgres.log') });
    onStop(() => postgres.stop());
  }

  /** Readiness tells what is away, and nothing else of the kind. */
  async function says(away: 'postgres' | 'eventStore'): Promise<void> {
    const other = away === 'postgres' ? 'eventStore' : 'postgres';
    await sandbox.until(async () => {
      const { status, body, headers } = await ready();
      if (body.checks[away].ok) return false;
      assert.deepEqual([status, body.ready], [503, false]);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
      return body.checks[other].ok;
    });
    assert.equal((await sandbox.callOnce('GET', '/healthz')).status, 200);
  }

  async function isUnavailable(ask: () => Promise<Answer>): Promise<void> {
    const { status, headers, body } = await ask();
    assert.equal(status, 503, JSON.stringify(body));
    assert.equal(body.error, 'unavailable');
    assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
  }

  function pidOf(name: string): number {
    const pid = sandbox.pidOf(name);
    assert.ok(pid, `${name} does not run`);
    return pid;
  }

  const eventStorePid = (): number =>
    JSON.parse(readFileSync(join(sandbox.dataDir, 'eventstore', 'holder.json'), 'utf8')).pid;

  async function endProcess(pid: number): Promise<void> {
    process.kill(pid, 'SIGTERM');
    await sandbox.until(() => sandbox.pidOf('chain-1') === undefined);
  }
});
