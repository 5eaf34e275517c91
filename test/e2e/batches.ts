/**
 * The real process batches payouts and is killed while it reports a batch to its payments; afterwards each payment is
 * paid once. test/workers/batches/ has all points.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Address, parseAbiItem, parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { accountOf } from '../../src/chains/evm/signer/signer.ts';
import { chainClient } from '../support/anvil.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox, type Sandbox } from '../support/sandbox.ts';

export const batchCrashPoints: readonly string[] = ['BatchSigned.afterAppend', 'PayoutConfirmed.afterAppend'];
const [from, to] = [8453, 1] as const;
const quick = { [`POLL_MS_${from}`]: '50', [`POLL_MS_${to}`]: '50' };

export interface BatchCrashes {
  readonly eventStoreUrl?: () => string;
  /** A stopped sandbox with Base and Ethereum. Default: a new one. */
  readonly sandbox?: Sandbox;
  /** Default: short poll intervals. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: all. */
  readonly points?: readonly string[];
}

/** Specs of one world whose service dies at each of the points. */
export function batchesSurviveCrashes(options: BatchCrashes = {}): void {
  const { sandbox = createSandbox({ chains: [from, to], eventStoreUrl: options.eventStoreUrl }) } = options;
  const { settings = quick, points = batchCrashPoints } = options;
  const together = { ...settings, [`PAYOUT_BATCH_${to}`]: '2', [`PAYOUT_BATCH_WAIT_SECONDS_${to}`]: '8' };
  const customers = createCustomers(sandbox);
  after(() => (options.sandbox ? sandbox.kill() : sandbox.destroy()));

  const treasury = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, ['tools/treasury.ts', ...args], { env })).stdout;
  };

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    assert.match(await treasury('batches', 'deploy', String(to)), /Done by 0x/);
    assert.match(await treasury('batches', 'allow', String(to), 'USDC', '100000'), /Done by 0x/);
    await sandbox.kill();
  });

  for (const point of points) {
    it(`dies at ${point}`, async () => {
      const started = await sandbox.start({ ...together, CRASH_AT: point });
      if (started === 'ready') await Promise.all([customers.come(from, to), customers.come(to, to)]);
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
  }

  it('and pays each receiver once, several in one transaction', async () => {
    assert.equal(await sandbox.start(together), 'ready', sandbox.printed());
    const done = await customers.finish();
    assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    const list = JSON.parse(await treasury('batches', '--json')) as readonly { standing: string; payouts: number }[];
    assert.ok(
      list.some(({ standing, payouts }) => standing === 'done' && payouts > 1),
      JSON.stringify(list),
    );
    const logs = await chainClient(sandbox.file().chains[String(to)]?.rpcUrl ?? '').getLogs({
      address: findToken(chainOf(to), 'USDC')?.address as Address,
      event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
      args: { from: accountOf(keepKeys(sandbox.dataDir).treasury) as Address },
      fromBlock: 0n,
      strict: true,
    });
    const paid = logs.map(({ args }) => `${args.to} ${args.value}`).sort();
    const owed = customers.orders.map(({ receiver, amount }) => `${receiver} ${parseUnits(amount, 6)}`).sort();
    assert.deepEqual(paid, owed);
    assert.ok(new Set(logs.map(({ transactionHash }) => transactionHash)).size < logs.length);
    assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
    for (const events of (await sandbox.history()).values()) assert.equal(verifyChain(events), null);
  });
}
