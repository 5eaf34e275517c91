/** The operator's command sweeps deposits on every EVM chain, while the signing service is killed at each point of a sweep. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Address, erc20Abi, parseAbiItem } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { type ChainId, chainOf, findToken } from '../../domain/chains.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { accountOf } from '../../src/chains/evm/signer/signer.ts';
import { chainClient } from '../support/anvil.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox, type SandboxOptions } from '../support/sandbox.ts';

interface SweepRound {
  readonly chainId: ChainId;
  /** Crash point of the service; null if it survives. */
  readonly point: string | null;
}

export const sweepRounds: readonly SweepRound[] = [
  { chainId: 8453, point: 'sweep.beforeSign' },
  { chainId: 56, point: 'sweep.afterSign' },
  { chainId: 42161, point: 'sweep.beforeBroadcast' },
  { chainId: 137, point: 'sweep.afterBroadcast' },
  { chainId: 1, point: null },
];
const transfers = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

export interface SweepOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  /** Begins with Base; at least one round survives. */
  readonly rounds: readonly SweepRound[];
}

/** Specs of one world whose deposits are swept chain by chain. */
export function sweepsSurviveCrashes({ rounds, eventStoreUrl }: SweepOptions): void {
  const chainIds = rounds.map(({ chainId }) => chainId);
  const settings = Object.fromEntries(chainIds.map((chainId) => [`POLL_MS_${chainId}`, '100']));
  const sandbox = createSandbox({ chains: chainIds, eventStoreUrl });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  /** Ends when all of its orders are done, or when the service's event store ends. */
  const sweep = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    const ran = promisify(execFile)(process.execPath, ['tools/sweep.ts', ...args, '--even-at-a-loss'], { env });
    return ran.then(({ stdout }) => stdout);
  };
  const usdcOf = (chainId: ChainId) => findToken(chainOf(chainId), 'USDC')?.address as Address;
  const clientOf = (chainId: ChainId) => chainClient(sandbox.file().chains[String(chainId)]?.rpcUrl ?? '');
  const treasury = () => accountOf(keepKeys(sandbox.dataDir).treasury) as Address;
  const deposits = (chainId: ChainId) =>
    customers.orders.filter(({ from }) => from === chainId).map(({ payment }) => payment.source.receiverAddress);
  const held = async (chainId: ChainId) => {
    const address = usdcOf(chainId);
    const read = { address, abi: erc20Abi, functionName: 'balanceOf' } as const;
    const balances = deposits(chainId).map((of) => clientOf(chainId).readContract({ ...read, args: [of] }));
    return (await Promise.all(balances)).reduce((sum, each) => sum + each, 0n);
  };
  /** Sum that moved from deposits to the treasury, from the token's own logs. */
  const swept = (chainId: ChainId) =>
    clientOf(chainId).getLogs({
      address: usdcOf(chainId),
      event: transfers,
      args: { from: deposits(chainId), to: treasury() },
      fromBlock: 0n,
    });
  const paid = new Map<ChainId, bigint>();

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    // Two deposits on Base share one transaction.
    customers.newOrder(8453, 1);
    for (const from of chainIds) customers.newOrder(from, 8453);
    const done = await customers.finish();
    assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    for (const chainId of chainIds) paid.set(chainId, await held(chainId));
    assert.match(await sweep('all', '--dry-run'), /not ordered: --dry-run/);
    await sandbox.kill();
  });

  for (const { chainId, point } of rounds) {
    if (point === null) continue;
    it(`are ordered on ${chainOf(chainId).name}, and the service dies at ${point}`, async () => {
      // An interrupted run continues, and may die again before it orders anything.
      const started = await sandbox.start({ ...settings, CRASH_AT: point });
      if (started === 'ready') void sweep(String(chainId)).catch(() => {});
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
  }

  it('are done after a restart: ordered ones, and unordered ones by two commands at the same time', async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    const said = await Promise.all([sweep('all'), sweep('evm')]);
    for (const chainId of chainIds) {
      assert.equal(await held(chainId), 0n, said.join('\n'));
      const logs = await swept(chainId);
      assert.equal(logs.length, deposits(chainId).length);
      assert.equal(new Set(logs.map(({ transactionHash }) => transactionHash)).size, 1);
      assert.equal(
        logs.reduce((sum, { args }) => sum + (args.value ?? 0n), 0n),
        paid.get(chainId),
      );
    }
  });

  it('are in the log, one operation on each chain, confirmed once', async () => {
    await sandbox.stop();
    const history = await sandbox.history();
    const operations = [...history].filter(([stream]) => stream.startsWith('operation-sweep-'));
    assert.equal(operations.length, chainIds.length);
    for (const [stream, events] of operations) {
      const types = events.map(({ type }) => type);
      assert.deepEqual(
        types.filter((type) => type !== 'OperationSigned'),
        ['OperationOrdered', 'OperationConfirmed'],
        stream,
      );
      assert.equal(verifyChain(events), null);
    }
  });
}
