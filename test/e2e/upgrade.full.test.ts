/** An upgrade of a data directory that an earlier version of the product filled, and a rollback. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Answer, createSandbox, type Sandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { walletOrders } from '../support/walletOrders.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Version 1.0.0-rc.1 as of 2026-11-27. Its sources are read from the repository's history. */
const former = 'da653e1f445f85030954012fd1b5efc1efb825d7';
const receiver = '0x2222222222222222222222222222222222222222';

describe('an upgrade from an earlier version', () => {
  let older: Sandbox;
  let now: Sandbox;

  before(async () => {
    const sources = temporaryDirectory();
    mkdirSync(sources, { recursive: true });
    const archive = join(sources, 'former.tar');
    await run('git', ['archive', '--output', archive, former], { cwd: root });
    await run('tar', ['-xf', archive, '-C', sources]);
    symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
    older = createSandbox({ chains: [8453, 1], sources, asNewcomer: true });
    now = createSandbox({ chains: [8453, 1], dataDir: older.dataDir, asNewcomer: true });
  });
  after(() => now.destroy());

  let begun: Answer['body'];

  it('keeps what was paid, and completes what was begun', async () => {
    assert.equal(await older.start(), 'ready', older.printed());
    const paid = await create(older, '2.00');
    await older.pay(paid);
    assert.equal((await older.follow(paid.id)).status, 'payment_payout_completed');
    const waiting = await create(older, '3.00');
    await older.query(`UPDATE ops.projections SET version = version - 1`);
    await older.stop();

    assert.equal(await now.start(), 'ready', now.printed());
    assert.match(now.printed(), /read models "work".*rebuilt/s);
    assert.equal((await now.follow(paid.id)).status, 'payment_payout_completed');
    await now.pay(waiting);
    assert.equal((await now.follow(waiting.id)).status, 'payment_payout_completed');
    begun = await create(now, '4.00');
    assert.equal(await now.balance(1, 'USDC', receiver), 5_000_000n);
  });

  it('can be rolled back, and upgraded again: each payment is paid once', async () => {
    await now.stop();
    assert.equal(await older.start(), 'ready', older.printed());
    const [first] = await older.query<{ count: string }>('SELECT count(*) FROM payments');
    assert.ok(Number(first?.count) >= 2, 'the earlier version reads the rows that it knows');
    await older.stop();

    assert.equal(await now.start(), 'ready', now.printed());
    await now.pay(begun);
    assert.equal((await now.follow(begun.id)).status, 'payment_payout_completed');
    assert.equal(await now.balance(1, 'USDC', receiver), 9_000_000n);
    // Exits with 0 only if there is no finding.
    await run(process.execPath, ['tools/audit.ts'], { cwd: root, env: { ...process.env, DATA_DIR: now.dataDir } });
  });
});

function create(sandbox: Sandbox, amount: string): Promise<Answer['body']> {
  const { order, create } = walletOrders(sandbox);
  const to = { chainId: 1, receiverAddress: receiver, amount };
  return create(order('exactOut', { chainId: 8453 }, to, { display: { title: 'Bread' } }));
}
