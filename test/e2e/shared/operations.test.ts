/** The treasury's own transfers in the real process: withdrawn on every chain family, and adopted after a manual transfer. */
import assert from 'node:assert/strict';
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { createWalletClient, erc20Abi, getAddress, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepKeys } from '../../../sandbox/keys.ts';
import { localRpc } from '../../../sandbox/localRpc.ts';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import { createCustomers } from '../../support/customers.ts';
import { runToolBeside } from '../../support/operatorTools.ts';
import { ethereumUsdc } from '../../support/payments.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { isFull } from '../../support/suite.ts';

const chainIds = [1, 501, 1500] as const;
const settings = {
  TREASURY_ADDRESS_COOLDOWN_HOURS: '0',
  TREASURY_APPROVAL_USD: '50',
  ...Object.fromEntries(chainIds.map((chainId) => [`POLL_MS_${chainId}`, '50'])),
};
const bank = getAddress('0x00000000000000000000000000000000000ba4c0');

describe('operations of the treasury', () => {
  const sandbox = sharedSandbox();
  const customers = createCustomers(sandbox);
  before(startSharedSandbox);

  const treasury = async (args: readonly string[], { name = 'ada', env = {} } = {}) => {
    const all = { ...settings, SUDO_USER: name, ...env };
    const { code, stdout, stderr, signal } = await runToolBeside(sandbox.dataDir, 'treasury', args, all);
    return { said: code === 0 ? stdout : stdout + stderr, signal };
  };
  const withdraw = async (chain: number, amount: string, to: string) => {
    const { said } = await treasury(['withdraw', String(chain), 'USDC', amount, '--to', to, '--json']);
    return JSON.parse(said) as { id: string; standing: string };
  };
  const trust = async (chain: number, address: string) =>
    assert.equal((await treasury(['addresses', 'add', String(chain), address, '--label', 'ours'])).said, 'Done.\n');
  const listed = async (id: string) => {
    const operations = JSON.parse((await treasury(['operations', '--json'])).said) as {
      id: string;
      standing: string;
    }[];
    return operations.find((each) => each.id === id)?.standing;
  };
  const done = (id: string) =>
    sandbox.until(async () => {
      const [row] = await sandbox.query<{ standing: string }>(
        `SELECT standing FROM operations WHERE operation_id = '${id}'`,
      );
      return row?.standing === 'done';
    });

  it('reach their receivers on every family of chains', async () => {
    const solana = SolanaKeypair.generate().publicKey.toBase58();
    const stellar = Keypair.random().publicKey();
    await fundAccount(sandbox.file().chains['1500']?.rpcUrl ?? '', stellar, { usdc: 0n });
    for (const [chain, to] of [
      [1, bank],
      [501, solana],
      [1500, stellar],
    ] as const) {
      await trust(chain, to);
      const { id } = await withdraw(chain, '7.5', to);
      await done(id);
      assert.equal(await listed(id), 'done');
    }
    assert.equal(await sandbox.balance(1, 'USDC', bank), parseUnits('7.5', 6));
    assert.equal(await sandbox.balance(501, 'USDC', solana), parseUnits('7.5', 6));
    assert.equal(await sandbox.balance(1500, 'USDC', stellar), parseUnits('7.5', 7));
  });

  it('above the limit wait for another operator, and can be called off until they are signed', async () => {
    const { id, standing } = await withdraw(1, '60', bank);
    assert.equal(standing, 'waitsForApproval');
    assert.match((await treasury(['approve', id])).said, /forbidden: ada ordered it/);
    assert.equal((await treasury(['approve', id], { name: 'grace' })).said, 'Done.\n');
    await done(id);
    assert.match((await treasury(['call-off', id])).said, /is on its chain: the operation cannot be called off/);
    const other = await withdraw(1, '61', bank);
    assert.equal((await treasury(['call-off', other.id], { name: 'grace' })).said, 'Done.\n');
    assert.equal(await sandbox.balance(1, 'USDC', bank), parseUnits('67.5', 6));
  });

  const itInFull = isFull ? it : it.skip;
  itInFull('sent by hand stop payouts until they are adopted, once each, killed on the way or not', async () => {
    const hash = await sendByHand();
    await sandbox.rpc(1, 'anvil_mine', ['0x10']);
    const order = customers.newOrder(501, 1);
    await customers.create(order);
    await customers.pay(order);
    await sandbox.until(async () =>
      String((await sandbox.operations('/metrics')).body).includes('pi_alarms_total{reason="treasuryBehindChain"}'),
    );
    const { said } = await treasury(['adopt', '1', '--json']);
    const found = JSON.parse(said) as { transaction: { txHash: string; changes: { amount: string }[] } }[];
    assert.deepEqual(
      found.map(({ transaction }) => [transaction.txHash, transaction.changes[0]?.amount]),
      [[hash, '-3000000']],
    );
    assert.match((await treasury(['adopt', '1', '--record', 'all'])).said, /--record needs --reason/);
    // The other chains make no blocks: payins there are not read up to the sent transfers.
    const record = ['adopt', '1', '--record', hash, '--reason', 'the rent, by hand', '--not-a-payout'];
    for (const point of ['TransactionAdopted.beforeAppend', 'TransactionAdopted.afterAppend'])
      assert.equal((await treasury(record, { env: { CRASH_AT: point } })).signal, 'SIGKILL');
    assert.match((await treasury(['adopt', '1'])).said, /The log knows every transaction/);
    await sandbox.follow(order.payment.id, ({ status }) => status === 'payment_payout_completed');
    assert.equal(await sandbox.balance(1, 'USDC', order.receiver), parseUnits(order.amount, 6));
  });

  /** Sends three dollars with the treasury's key and its next nonce. */
  async function sendByHand(): Promise<string> {
    const account = privateKeyToAccount(keepKeys(sandbox.dataDir).treasury);
    const client = createWalletClient({ account, transport: localRpc(sandbox.file().chains['1']?.rpcUrl) });
    return client.writeContract({
      chain: null,
      address: getAddress(ethereumUsdc.token.address),
      abi: erc20Abi,
      functionName: 'transfer',
      args: [bank, parseUnits('3', 6)],
    });
  }
});
