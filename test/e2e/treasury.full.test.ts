/** Another program uses the treasury's key while the service is down, with the nonce of a payout that was signed and not sent. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createWalletClient, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepKeys } from '../../sandbox/keys.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { chainClient } from '../support/anvil.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [8453, 1] as const;
/** Blocks are mined on request: the sandbox's nodes keep the accounts of only sixteen blocks. */
const settings = {
  SANDBOX_BLOCK_TIME_S: '1000',
  ...Object.fromEntries(chainIds.map((chainId) => [`POLL_MS_${chainId}`, '50'])),
};

describe('a nonce of the treasury that another program has used', () => {
  const sandbox = createSandbox({ chains: chainIds });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  const rpcUrl = (chainId: number) => sandbox.file().chains[String(chainId)]?.rpcUrl ?? '';
  const mine = (chainId: number, blocks = 1) => chainClient(rpcUrl(chainId)).mine({ blocks });
  const paid = (receiver: string) => sandbox.balance(1, 'USDC', receiver);
  const operator = async (tool: string, ...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, [`tools/${tool}.ts`, ...args], { env })).stdout;
  };

  /** Mines blocks during the work. */
  async function whileMining<T>(work: () => Promise<T>): Promise<T> {
    let mining = true;
    const blocks = (async () => {
      while (mining) await Promise.all([...chainIds.map((chainId) => mine(chainId)), sleep(200)]);
    })();
    try {
      return await work();
    } finally {
      mining = false;
      await blocks;
    }
  }

  it('ends no payout: nothing is paid there, and an operator is notified', async () => {
    await sandbox.start({ ...settings, CRASH_AT: 'payout.beforeBroadcast' });
    await whileMining(async () => {
      await customers.come(8453, 1);
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
    await useNonce();

    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    await sandbox.until(async () => {
      const { body } = await sandbox.operations('/metrics');
      return String(body).includes('pi_alarms_total{reason="treasuryBehindChain"}');
    });
    const [first] = customers.orders;
    assert.ok(first);
    assert.equal(await paid(first.receiver), 0n);
  });

  it('is explained by the operator, who sees it; then each receiver is paid once', async () => {
    assert.match(await operator('treasury', 'show', '1'), /used by others/);
    const [first] = customers.orders;
    assert.match(await operator('payouts'), new RegExp(String(first?.payment.id)));
    assert.match(await operator('treasury', 'explain', 'our own transfer', '1'), /done/);
    const dead = `SELECT FROM transactions WHERE kind = 'payout' AND status = 'dead'`;
    await sandbox.until(async () => (await sandbox.query(dead)).length === 1);
    await whileMining(() => customers.finish());
    for (const { receiver, amount } of customers.orders) assert.equal(await paid(receiver), parseUnits(amount, 6));
    assert.match(await operator('payouts'), /Every payout is settled/);
  });

  /** Uses the nonce for an empty transfer, deep enough to be final. */
  async function useNonce(): Promise<void> {
    const account = privateKeyToAccount(keepKeys(sandbox.dataDir).treasury);
    const client = createWalletClient({ account, transport: localRpc(rpcUrl(1)) });
    await client.sendTransaction({ chain: null, to: account.address, value: 0n });
    await mine(1, 6);
  }
});
