/** The parts of `npm run chaos` that need no world. The whole is run by hand. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chains } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { randomOf } from '../../sandbox/random.ts';
import type { Ended } from '../../sandbox/trials/customers.ts';
import { habits, orderOf } from '../../sandbox/trials/orders.ts';
import { drawFault, faults, targetOf } from '../../sandbox/trials/processes/faults.ts';
import { deliveriesIn } from '../../sandbox/trials/processes/log.ts';
import { supervised } from '../../sandbox/trials/processes/program.ts';
import { type Outcome, summaryOf, withRun } from '../../sandbox/trials/processes/report.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const chainIds = chains.map(({ id }) => id);

function ordersOf(seed: string, count: number) {
  const random = randomOf(seed);
  return Array.from({ length: count }, (_, number) => orderOf(random, number, chainIds));
}

describe('chaos', () => {
  it('has the same orders for the same seed, over all chains and by all habits, each with a receiver of its own', () => {
    const [orders, again] = [1, 2].map(() => ordersOf('seed', 400));
    const terms = (all = orders) => all?.map(({ receiver: _, ...rest }) => rest);
    assert.deepEqual(terms(orders), terms(again));
    assert.notDeepEqual(terms(orders), terms(ordersOf('other', 400)));
    for (const { id } of chains) {
      assert.ok(orders?.some(({ from }) => from === id));
      assert.ok(orders?.some(({ to }) => to === id));
    }
    assert.deepEqual(new Set(orders?.map(({ habit }) => habit)), new Set(habits));
    assert.equal(new Set(orders?.map(({ receiver }) => receiver)).size, 400);
  });

  it('causes each fault, and two with one target one at a time', () => {
    const random = randomOf('seed');
    const drawn = new Set(Array.from({ length: 2_000 }, () => drawFault(random)));
    assert.deepEqual([...drawn].toSorted(), Object.keys(faults).toSorted());
    assert.equal(targetOf('postgresHung'), targetOf('postgresDiskFull'));
    assert.notEqual(targetOf('postgresHung'), targetOf('serviceHung'));
  });

  it('restarts a program that ends unasked, and leaves a stopped one down', async () => {
    const folder = temporaryDirectory();
    const program = supervised({
      args: ['-e', 'console.log("up"); setInterval(() => {}, 1000)'],
      env: () => process.env,
      logFile: join(folder, 'log'),
    });
    program.start();
    const first = program.pid();
    assert.ok(first);
    process.kill(first, 'SIGKILL');
    while (program.starts() < 2) await sleep(20);
    assert.notEqual(program.pid(), first);
    await program.down('SIGKILL');
    assert.equal(program.pid(), undefined);
    assert.equal(program.starts(), 2);
  });

  it('has a clock that is ahead by the configured time', () => {
    const clock = new URL('../../sandbox/trials/processes/clock.ts', import.meta.url).href;
    const printed = execFileSync(process.execPath, ['--import', clock, '-p', 'Date.now() - new Date().getTime()']);
    const later = execFileSync(process.execPath, ['--import', clock, '-p', 'new Date().toISOString()'], {
      env: { ...process.env, CLOCK_AHEAD_MS: String(1_000 * 24 * 60 * 60_000) },
    });
    assert.ok(Math.abs(Number(printed)) < 1_000);
    assert.ok(Date.parse(String(later).trim()) > Date.now() + 999 * 24 * 60 * 60_000);
  });

  it('reports the results of webhooks: one whose outcome is not in the log is unknown', () => {
    const stream = (...types: readonly string[]) => types.map((type) => ({ type })) as unknown as StoredEvent[];
    const log = new Map([
      ['webhook-1', stream('WebhookSendStarted', 'WebhookDelivered')],
      ['webhook-2', stream('WebhookSendStarted', 'WebhookExhausted')],
      ['webhook-3', stream('WebhookSendStarted')],
      ['payment-1', stream('PaymentCreated')],
    ]);
    assert.deepEqual(deliveriesIn(log), { begun: 3, delivered: 1, failed: 1, unknown: 1 });
  });

  it('has its summary in docs/explain/chaos.md, which states its findings', () => {
    const document = readFileSync(new URL('../../docs/explain/chaos.md', import.meta.url), 'utf8');
    for (const name of Object.keys(faults)) assert.ok(document.includes(`\`${name}\``), name);
    const [order] = ordersOf('seed', 1);
    const outcome: Outcome = {
      seed: '7',
      ended: [{ order, end: { status: 'payment_bounced', errorCode: 'latePayin' } } as unknown as Ended],
      faults: new Map([['serviceKilled', 3]]),
      notDone: [],
      disks: false,
      starts: { service: 4, eventStore: 1 },
      posts: 1,
      deliveries: { begun: 1, delivered: 1, failed: 0, unknown: 0 },
      refunds: 0,
      minutes: { storm: 1, quiet: 1 },
      findings: ['a payment has no end'],
      audit: 'clean',
    };
    assert.match(summaryOf(outcome), /3 faults in 1\.0 minutes/);
    assert.match(summaryOf(outcome), /- a payment has no end/);
    assert.match(summaryOf(outcome), /No disk was filled/);
    const written = withRun(document, outcome);
    assert.equal(withRun(written, outcome), written);
  });
});
