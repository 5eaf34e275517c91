/** Money moves from Base to Solana and back, and from Solana to Stellar, by an operator's orders, while the service is killed behind its steps. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [8453, 501, 1500] as const;
const steps = ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'];

describe('moves with Solana in a sandbox', () => {
  const sandbox = createSandbox({ chains: chainIds });
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
  const start = async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed());

  async function order(from: string, to: string, ...options: string[]): Promise<string> {
    const args = ['rebalance', from, 'USDC', '500', to, '--burn', ...options, '--reason', 'a test'];
    const said = await tool('treasury', ...args);
    return (/rebalance-[0-9a-f]{12}/.exec(said) ?? assert.fail(said))[0];
  }

  /** Waits until the move is over. The service is killed behind each step that `kills` names. */
  async function arrived(stream: string, kills: readonly string[] = []): Promise<void> {
    for (const step of [...kills, 'MintConfirmed']) {
      await sandbox.until(async () => (await typesIn(stream)).includes(step));
      if (step === 'MintConfirmed') break;
      await sandbox.kill();
      await start();
    }
    // A killed service may find its bytes dead on a slow machine, and signs again.
    assert.deepEqual([...new Set((await typesIn(stream)).filter((type) => !type.endsWith('Died')))], steps);
    assert.equal((await typesIn(stream)).filter((type) => type === 'BurnConfirmed').length, 1);
  }

  it('arrives once on Stellar from Solana', async () => {
    await start();
    await arrived(await order('solana', 'stellar'));
  });

  it('arrives once on Solana from Base, through kills behind its steps', async () => {
    await tool('treasury', 'allow-burns', '8453', '1000');
    await arrived(await order('8453', 'solana'), ['BurnConfirmed', 'MintSigned']);
  });

  it('arrives once on Base from Solana with fast finality, through kills behind its steps', async () => {
    await arrived(await order('solana', '8453', '--fast'), ['BurnSigned', 'BurnAttested']);
  });

  it('needs no allowance on Solana', async () => {
    await assert.rejects(tool('treasury', 'allow-burns', 'solana', '1000'), /needs no allowance/);
  });

  it('counts no mint of its own as a payin', async () => {
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
