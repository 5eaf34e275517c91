/** Money moves automatically from Polygon to Stellar while payments run, and back by an operator's order. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { wholeTokens } from '../../sandbox/world.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [137, 1500] as const;
const [minimum, target, maximum] = [wholeTokens + 10_000n, wholeTokens + 20_000n, 10n * wholeTokens];

describe('the policy of floats with Stellar in a sandbox', () => {
  const sandbox = createSandbox({ chains: chainIds });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  const environment = () => ({ ...process.env, DATA_DIR: sandbox.dataDir });
  const tool = async (name: string, ...args: string[]) =>
    (await promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env: environment() })).stdout;
  const audit = async (): Promise<{ readonly code: number; readonly stdout: string }> =>
    promisify(execFile)(process.execPath, ['tools/audit.ts', '--json'], {
      env: environment(),
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }) => ({ code, stdout }),
    );
  const typesIn = async (stream: string) => ((await sandbox.history()).get(stream) ?? []).map(({ type }) => type);

  it('moves money to Stellar through the forwarder, once, while payments run', async () => {
    const settings = {
      FLOAT_POLICY: 'automatic',
      FLOAT_LIMITS: `1500:${minimum}:${target}:${maximum},137:100:200:${maximum}`,
      FLOAT_COOLDOWN_MINUTES: '10080',
      FLOAT_AUTOMATIC_BELOW_USD: '100000',
      SIGNER_MAX_TRANSFER_USD: '100000',
      SIGNER_MAX_HOUR_USD: '1000000',
    };
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    await tool('treasury', 'allow-burns', '137', '100000');
    const closing = new AbortController();
    const shopping = [customers.come(137, 1500, closing.signal), customers.come(1500, 137, closing.signal)];
    await sandbox.until(async () => (await typesIn('floatPlan-usdc')).length > 1);
    closing.abort();
    await Promise.all(shopping);
    await customers.finish();
    assert.ok(customers.orders.length >= 2);
    assert.deepEqual(await typesIn('floatPlan-usdc'), ['MovePlanned', 'PlannedMoveEnded']);
    const steps = new Set((await typesIn('rebalance-usdc-1')).filter((type) => !type.endsWith('Died')));
    assert.deepEqual(
      [...steps],
      ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'],
    );
  });

  it('moves money back by an operator’s order', async () => {
    await tool('treasury', 'allow-burns', 'stellar', '1000');
    const args = ['rebalance', 'stellar', 'USDC', '500.5', '137', '--burn', '--reason', 'a test'];
    const said = await tool('treasury', ...args);
    const [stream] = /rebalance-[0-9a-f]{12}/.exec(said) ?? assert.fail(said);
    await sandbox.until(async () => (await typesIn(stream)).includes('MintConfirmed'));
  });

  it('counts its own mint as no payin', async () => {
    const streams = [...(await sandbox.history()).keys()];
    assert.deepEqual(
      streams.filter((stream) => stream.startsWith('unmatched-')),
      [],
    );
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
