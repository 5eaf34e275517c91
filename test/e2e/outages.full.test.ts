/** The service's stores go away during payments: correct answers meanwhile, automatic recovery, no duplicated effect. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAnvil } from '../../sandbox/anvil.ts';
import { startPostgres } from '../../sandbox/postgres.ts';
import { createCustomers } from '../support/customers.ts';
import { createOutages } from '../support/outages.ts';
import { familyOf, freeze } from '../support/processTable.ts';
import { createSandbox } from '../support/sandbox.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

describe('an outage', () => {
  const sandbox = createSandbox({ chains: [8453, 1] });
  const customers = createCustomers(sandbox);
  const { whileCustomersCome, says, isUnavailable, read, create } = createOutages(sandbox, customers, [
    { from: 8453, to: 1 },
    { from: 1, to: 8453 },
  ]);
  before(() => sandbox.start({ POLL_MS_8453: '100', POLL_MS_1: '100' }));
  /** Ends of programs that a spec started again: the sandbox does not know them. */
  const restarted: (() => Promise<unknown>)[] = [];
  after(async () => {
    await sandbox.destroy();
    for (const stop of restarted) await stop();
  });

  it('caused by a Postgres that hangs: 503 until it continues, also when every lease was lost', () =>
    whileCustomersCome(async () => {
      const goOn = freeze(familyOf(pidOf('postgres')));
      try {
        await says('postgres');
        await isUnavailable(read);
        await isUnavailable(create);
        await sandbox.until(async () => !/^pi_role_active\{.*\} 1$/m.test((await sandbox.operations('/metrics')).body));
        // Longer than the timeout of an attempt to reacquire the leases.
        for (let tries = 0; tries < 8; tries += 1) await isUnavailable(read);
      } finally {
        goOn();
      }
    }));

  it('caused by a killed Postgres: 503 until it is back', () =>
    whileCustomersCome(async () => {
      const [pid, , , port] = readFileSync(join(sandbox.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
      try {
        await says('postgres');
        await isUnavailable(read);
        // Permissions for creation are cached for a second.
        await sandbox.until(async () => (await create()).status !== 201);
        await isUnavailable(create);
      } finally {
        await startAgain(Number(port));
      }
    }));

  it('caused by a killed event store: it is restarted, reads are answered all the time', () =>
    whileCustomersCome(async () => {
      const known = customers.orders[0]?.payment.id;
      process.kill(eventStorePid(), 'SIGKILL');
      for (let tries = 0; tries < 20; tries += 1) {
        assert.equal((await sandbox.callOnce('GET', `/payment-api/payments/${known}`)).status, 200);
      }
    }));

  it('caused by an event store that hangs: requests are sent again and written once', () =>
    whileCustomersCome(async () => {
      const goOn = freeze([eventStorePid()]);
      try {
        const creating = customers.create(customers.newOrder(8453, 1));
        // As long as several readiness rounds: longer than the maximum duration of one append attempt.
        for (let tries = 0; tries < 4; tries += 1) await says('eventStore');
        goOn();
        await creating;
      } finally {
        goOn();
      }
    }));

  it('caused by a chain’s node: payouts wait and continue', async () => {
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
    restarted.push(anvil.stop);
    assert.equal((await sandbox.follow(order.payment.id)).status, 'payment_payout_completed');

    async function failures(): Promise<number> {
      const work = /^pi_work_total\{worker="payouts:1",result="failed"\} (\d+)$/m;
      return Number(work.exec((await sandbox.operations('/metrics')).body)?.[1] ?? 0);
    }
  });

  it('has left every payment whole: completed, paid out once, reported twice, its history unbroken', async () => {
    const paymentIds = await eachCompletesOnce(sandbox, customers);
    await sandbox.kill();
    isWhole(await sandbox.history(), paymentIds);
  });

  /** Starts Postgres again on the same data and port. */
  async function startAgain(port: number): Promise<void> {
    const again = { dataDir: join(sandbox.dataDir, 'postgres'), port };
    const postgres = await startPostgres({ ...again, logFile: join(sandbox.dataDir, 'logs', 'postgres.log') });
    restarted.push(postgres.stop);
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
