/** Ends and restarts of the whole product on one data directory: running parts are found again, interrupted work continues. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keepKeys } from '../../sandbox/keys.ts';
import { processesOf } from '../support/processTable.ts';
import { type Answer, createSandbox, type Sandbox } from '../support/sandbox.ts';
import { walletOrders } from '../support/walletOrders.ts';

const receiver = '0x2222222222222222222222222222222222222222';
const outliving = [
  'postgres',
  'receiver',
  'mailbox',
  'shop',
  'block-clock',
  'chain-8453',
  'chain-1',
  'chain-1500',
] as const;

describe('a service that was killed', () => {
  const sandbox = createSandbox({ chains: [8453, 1, 1500] });
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  it('finds its world again and pays out payments that were paid meanwhile', async () => {
    const payment = await create(sandbox, '4.00');
    const before = outliving.map(sandbox.pidOf);
    await sandbox.kill();
    await sandbox.pay(payment);
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    assert.deepEqual(outliving.map(sandbox.pidOf), before);
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
    assert.equal(await sandbox.balance(1, 'USDC', receiver), 4_000_000n);
  });

  it('is not started a second time while it runs', async () => {
    const service = sandbox.pidOf('service');
    const second = createSandbox({ dataDir: sandbox.dataDir });
    assert.equal(await second.start(), 'ended');
    assert.deepEqual(await second.ended(), { code: 1, signal: null });
    assert.match(second.printed(), new RegExp(`already runs on ${sandbox.dataDir} \\(pid ${service}\\): http://`));
    assert.equal(sandbox.pidOf('service'), service);
    await completes(sandbox);
  });

  it('continues under another master key: published links still open, webhooks are signed with the known secrets', async () => {
    const open = await create(sandbox, '3.00');
    const keys = keepKeys(sandbox.dataDir);
    const masterKey = randomBytes(32).toString('hex');
    const env = { ...process.env, MASTER_KEY: masterKey, MASTER_KEY_OLD: keys.masterKey };
    const tool = ['tools/rotateMasterKey.ts', '--data', sandbox.dataDir];
    const rotate = async () => (await promisify(execFile)(process.execPath, tool, { env })).stdout;
    await assert.rejects(rotate(), /already|in use|uses|still runs/i);
    await sandbox.kill();
    let printed = '';
    await sandbox.until(async () => {
      printed = await rotate().catch(() => '');
      return printed !== '';
    });
    assert.match(printed, /^Done, \d+ secrets/);

    assert.equal(await sandbox.start(), 'ended');
    assert.match(sandbox.printed(), /seal of key/);
    writeFileSync(join(sandbox.dataDir, 'sandbox-keys.json'), JSON.stringify({ ...keys, masterKey }));
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    const { pathname } = new URL(open.paymentLink);
    assert.match(await (await fetch(`${sandbox.file().baseUrl}${pathname}`)).text(), /Bread/);
    await sandbox.pay(open);
    assert.equal((await sandbox.follow(open.id)).status, 'payment_payout_completed');
    await sandbox.until(() => sandbox.webhooks(open.id).length === 2);
    assert.ok(sandbox.webhooks(open.id).every(({ valid }) => valid));
  });
});

describe('a sandbox that was stopped', () => {
  const sandbox = createSandbox();
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  it('leaves no process behind and continues with its keys, chains and payments', async () => {
    const [done, open] = [await completes(sandbox), await create(sandbox, '2.00')];
    const [was, height] = [sandbox.file(), await heightOf(sandbox)];
    const paid = await sandbox.balance(1, 'USDC', receiver);

    assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
    assert.deepEqual(processesOf(sandbox.dataDir), []);

    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    const { merchant, wallet, customer, chains, webhook } = sandbox.file();
    assert.deepEqual(
      { merchant, wallet, customer, chains, webhook },
      { merchant: was.merchant, wallet: was.wallet, customer: was.customer, chains: was.chains, webhook: was.webhook },
    );
    assert.ok((await heightOf(sandbox)) >= height);
    assert.equal(await sandbox.balance(1, 'USDC', receiver), paid);
    assert.deepEqual(await sandbox.read(done.id), done);
    await sandbox.pay(open);
    assert.equal((await sandbox.follow(open.id)).status, 'payment_payout_completed');
  });

  it('starts again after a power cut', async () => {
    const done = await completes(sandbox);
    const since_ms = Date.now();
    const dumps = [8453, 1].map((chainId) => join(sandbox.dataDir, 'chains', `${chainId}.json`));
    await sandbox.until(() => dumps.every((dump) => statSync(dump).mtimeMs > since_ms));
    for (const { pid } of processesOf(sandbox.dataDir)) process.kill(pid, 'SIGKILL');
    await sandbox.kill();
    await sandbox.until(() => processesOf(sandbox.dataDir).length === 0);

    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    assert.deepEqual(await sandbox.read(done.id), done);
    await completes(sandbox);
  });
});

describe('a start that does not succeed', () => {
  const sandbox = createSandbox({ chains: [8453, 501, 1500] });
  after(() => sandbox.destroy());

  it('ends its processes when it is interrupted', async () => {
    const starting = sandbox.start();
    await sandbox.until(() => existsSync(join(sandbox.dataDir, 'postgres', 'postmaster.pid')));
    assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
    await starting;
    assert.deepEqual(processesOf(sandbox.dataDir), []);
  });

  it('states that its port is in use, and leaves nothing behind', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => squatter.once('listening', listening));
    const { port } = squatter.address() as { port: number };
    try {
      assert.equal(await sandbox.start({ PORT: String(port) }), 'ended');
      assert.deepEqual(await sandbox.ended(), { code: 1, signal: null });
      assert.match(sandbox.printed(), new RegExp(`port ${port} .*is taken.*set PORT`));
      assert.deepEqual(processesOf(sandbox.dataDir), []);
    } finally {
      squatter.close();
    }
  });

  it('states the reason last, though the service had started already, and leaves nothing behind', async () => {
    // Written once the demo apps exist.
    const settings = join(sandbox.dataDir, 'shop', 'settings.json');
    rmSync(settings, { force: true });
    mkdirSync(settings, { recursive: true });
    try {
      const starting = sandbox.start();
      // It ends last, long after the chains.
      await sandbox.until(() => sandbox.pidOf('shop') !== undefined);
      process.kill(sandbox.pidOf('shop') ?? 0, 'SIGSTOP');
      assert.equal(await starting, 'ended');
      assert.deepEqual(await sandbox.ended(), { code: 1, signal: null });
      const [why, ...after] = sandbox.printed().split(/(?=EISDIR)/);
      assert.ok(why !== undefined && after.length > 0, sandbox.printed());
      assert.doesNotMatch(after.join(''), /"level":/, 'no complaint of a service whose world has gone');
      assert.deepEqual(processesOf(sandbox.dataDir), []);
    } finally {
      rmdirSync(settings);
    }
  });
});

function create(sandbox: Sandbox, amount: string): Promise<Answer['body']> {
  const { order, create } = walletOrders(sandbox);
  const more = { display: { title: 'Bread' } };
  return create(order('exactOut', { chainId: 8453 }, { chainId: 1, receiverAddress: receiver, amount }, more));
}

async function completes(sandbox: Sandbox): Promise<Answer['body']> {
  const payment = await create(sandbox, '1.00');
  await sandbox.pay(payment);
  const done = await sandbox.follow(payment.id);
  assert.equal(done.status, 'payment_payout_completed');
  return done;
}

const heightOf = async (sandbox: Sandbox): Promise<number> => Number(await sandbox.rpc(8453, 'eth_blockNumber', []));
