/** Money moves automatically from Base to Ethereum while payments run, and an operator sees the floats. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseUnits } from 'viem';
import { wholeTokens } from '../../sandbox/world.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [8453, 1] as const;
/** More than the sandbox gives to Ethereum. The sandbox's own payments take some thousand dollars of each float. */
const [minimum, target, maximum] = [wholeTokens + 10_000n, wholeTokens + 20_000n, 10n * wholeTokens];

describe('the policy of floats in a sandbox', () => {
  const sandbox = createSandbox({ chains: chainIds });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  const tool = async (name: string, ...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env })).stdout;
  };
  const audit = async (): Promise<{ readonly code: number; readonly stdout: string }> => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return promisify(execFile)(process.execPath, ['tools/audit.ts', '--json'], {
      env,
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }) => ({ code, stdout }),
    );
  };
  const typesIn = async (stream: string) => ((await sandbox.history()).get(stream) ?? []).map(({ type }) => type);
  const page = async () => String((await sandbox.operations('/floats')).body);

  it('moves money to the float that is too low, once, while payments run', async () => {
    const settings = {
      FLOAT_POLICY: 'automatic',
      FLOAT_LIMITS: `1:${minimum}:${target}:${maximum},8453:100:200:${maximum}`,
      FLOAT_COOLDOWN_MINUTES: '10080',
      FLOAT_AUTOMATIC_BELOW_USD: '100000',
      SIGNER_MAX_TRANSFER_USD: '100000',
      SIGNER_MAX_HOUR_USD: '1000000',
    };
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    await tool('treasury', 'allow-burns', '8453', '100000');
    const closing = new AbortController();
    const shopping = [customers.come(8453, 1, closing.signal), customers.come(1, 8453, closing.signal)];
    await sandbox.until(async () => (await typesIn('floatPlan-usdc')).length > 0);
    await sandbox.until(async () => (await typesIn('floatPlan-usdc')).length > 1);
    closing.abort();
    await Promise.all(shopping);
    await customers.finish();
    assert.ok(customers.orders.length >= 2);
    for (const { to, receiver, amount } of customers.orders)
      assert.equal(await sandbox.balance(to, 'USDC', receiver), parseUnits(amount, 6));
    assert.deepEqual(await typesIn('floatPlan-usdc'), ['MovePlanned', 'PlannedMoveEnded']);
    // A slow machine may replace a transaction by one with a higher fee.
    const steps = new Set((await typesIn('rebalance-usdc-1')).filter((type) => !type.endsWith('Died')));
    assert.deepEqual(
      [...steps],
      ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'],
    );
  });

  it('moves money back by an operator’s order', async () => {
    await tool('treasury', 'allow-burns', '1', '1000');
    const args = ['rebalance', '1', 'USDC', '500', '8453', '--burn', '--fast', '--reason', 'a test'];
    const said = await tool('treasury', ...args);
    const [stream] = /rebalance-[0-9a-f]{12}/.exec(said) ?? assert.fail(said);
    await sandbox.until(async () => (await typesIn(stream)).includes('MintConfirmed'));
  });

  it('shows the floats to an operator', async () => {
    await sandbox.until(async () => (await page()).includes('No move is open'));
    assert.match(await tool('treasury', 'floats'), /Ethereum/);
    const metrics = async () => String((await sandbox.operations('/metrics')).body);
    await sandbox.until(async () => /pi_float_usdc\{chain="1",part="held"\} \d/.test(await metrics()));
    // Before the books are open, payouts alone are recorded: a float without its opening balance is no empty float.
    assert.doesNotMatch(await page(), /no other float can give money/);
  });

  it('leaves log, chains and read models without a finding of the audit', async () => {
    // The last blocks become final in a moment; until then the audit reports that it could not read them.
    let audited = { code: -1, stdout: '' };
    const isClean = async () => {
      audited = await audit();
      return audited.code === 0;
    };
    await sandbox.until(isClean).catch(() => assert.fail(audited.stdout.slice(0, 4_000)));
    const { findings, gaps, readModels } = JSON.parse(audited.stdout);
    assert.deepEqual([findings, gaps, readModels.findings], [[], [], []]);
  });
});
