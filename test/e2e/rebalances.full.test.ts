/** Money moves automatically from Base to Ethereum while payments run, and an operator sees the floats. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseUnits } from 'viem';
import type { CctpChainId } from '../../domain/rebalance/cctp.ts';
import { type AttestationService, plantCctp, startAttestations } from '../../sandbox/cctp.ts';
import { wholeTokens } from '../../sandbox/world.ts';
import { createCustomers } from '../support/customers.ts';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [8453, 1] as const;
/** More than the sandbox gives to Ethereum. The sandbox's own payments take some thousand dollars of each float. */
const [minimum, target, maximum] = [wholeTokens + 10_000n, wholeTokens + 20_000n, 10n * wholeTokens];

describe('the policy of floats in a sandbox', () => {
  const sandbox = createSandbox({ chains: chainIds });
  const customers = createCustomers(sandbox);
  /** Filled when the chains run. */
  const rpcUrls = new Map<CctpChainId, string>();
  let attestations: AttestationService;
  before(async () => {
    attestations = await startAttestations(rpcUrls);
  });
  after(async () => {
    await sandbox.destroy();
    await attestations.close();
  });

  const tool = async (name: string, ...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir, CCTP_ATTESTATIONS_URL: attestations.url };
    return (await promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env })).stdout;
  };
  const audit = async (): Promise<{ readonly code: number; readonly stdout: string }> => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return promisify(execFile)(process.execPath, ['tools/audit.ts', '--json'], { env, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout, stderr }) => {
        console.log(code, stdout.slice(0, 3000), stderr.slice(-500));
        return { code, stdout };
      },
    );
  };
  const typesIn = async (stream: string) => ((await sandbox.history()).get(stream) ?? []).map(({ type }) => type);
  const page = async () => String((await sandbox.operations('/floats')).body);

  it('moves money to the float that is too low, once, while payments run', async () => {
    const settings = {
      CCTP_ATTESTATIONS_URL: attestations.url,
      FLOAT_POLICY: 'automatic',
      FLOAT_LIMITS: `1:${minimum}:${target}:${maximum},8453:100:200:${maximum}`,
      FLOAT_COOLDOWN_MINUTES: '10080',
      FLOAT_AUTOMATIC_BELOW_USD: '100000',
      SIGNER_MAX_TRANSFER_USD: '100000',
      SIGNER_MAX_HOUR_USD: '1000000',
    };
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    for (const chainId of chainIds) {
      const url = sandbox.file().chains[String(chainId)]?.rpcUrl ?? '';
      rpcUrls.set(chainId, url);
      await plantCctp(url, chainId);
    }
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
    assert.deepEqual(await typesIn('rebalance-usdc-1'), [
      'RebalanceOrdered',
      'BurnSigned',
      'BurnConfirmed',
      'BurnAttested',
      'MintSigned',
      'MintConfirmed',
    ]);
  });

  it('shows the floats to an operator', async () => {
    await sandbox.until(async () => (await page()).includes('No move is open'));
    assert.match(await tool('treasury', 'floats'), /Ethereum/);
    const metrics = String((await sandbox.operations('/metrics')).body);
    assert.match(metrics, /pi_float_usdc\{chain="1",part="held"\} \d/);
    // Before the books are open, payouts alone are recorded: a float without its opening balance is no empty float.
    assert.doesNotMatch(metrics, /pi_alarms_total\{reason="float/);
  });

  it('leaves log, chains and read models without a finding of the audit', async () => {
    // Read models follow the last events in a moment, and the audit's blocks must be final: a run that cannot read them yet has gaps.
    let audited = await audit();
    await sandbox.until(async () => {
      audited = await audit();
      return audited.code === 0;
    });
    const { findings, gaps, readModels, unsettled } = JSON.parse(audited.stdout);
    assert.deepEqual([findings, gaps, readModels.findings], [[], [], []]);
    assert.deepEqual(unsettled ?? [], []);
  });
});
