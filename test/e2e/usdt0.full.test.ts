/** USDT moves between Ethereum, Arbitrum, Polygon and Stellar by an operator's orders, and a killed service completes moves. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ChainId } from '../../domain/chains.ts';
import { createSandbox } from '../support/sandbox.ts';

type Way = readonly [from: string, to: string];

/** On Ethereum the contract pays out what was locked there before. */
const sandboxes: readonly {
  readonly chains: readonly ChainId[];
  readonly ways: readonly Way[];
  readonly killed: readonly Way[];
}[] = [
  {
    chains: [42161, 137, 1500],
    ways: [
      ['42161', '137'],
      ['137', '42161'],
      ['42161', 'stellar'],
      ['stellar', '137'],
    ],
    killed: [
      ['42161', '137'],
      ['stellar', '42161'],
    ],
  },
  {
    chains: [1, 1500],
    ways: [
      ['1', 'stellar'],
      ['stellar', '1'],
    ],
    killed: [
      ['1', 'stellar'],
      ['stellar', '1'],
    ],
  },
];

for (const { chains, ways, killed } of sandboxes) describeMoves(chains, ways, killed);

function describeMoves(chains: readonly ChainId[], ways: readonly Way[], killed: readonly Way[]): void {
  describe(`a move by USDT0 in a sandbox of ${chains.join(', ')}`, () => {
    const sandbox = createSandbox({ chains });
    after(() => sandbox.destroy());

    const run = async (name: string, ...args: string[]) => {
      const env = { ...process.env, DATA_DIR: sandbox.dataDir };
      return promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
    };
    const typesIn = async (stream: string) => ((await sandbox.history()).get(stream) ?? []).map(({ type }) => type);
    const order = async (from: string, to: string): Promise<string> => {
      const args = ['rebalance', from, 'USDT', '500', to, '--burn', '--reason', 'a test'];
      const { stdout } = await run('treasury', ...args);
      const [stream] = /rebalance-[0-9a-f]{12}/.exec(stdout) ?? assert.fail(stdout);
      return stream;
    };

    it('arrives by the executor, there and back', async () => {
      assert.equal(await sandbox.start(), 'ready', sandbox.printed());
      if (chains.includes(1)) await run('treasury', 'allow-burns', '1', '10000', '--token', 'USDT');
      for (const [from, to] of ways) {
        const stream = await order(from, to);
        await sandbox.until(async () => (await typesIn(stream)).includes('MintedByOther'));
        const steps = new Set((await typesIn(stream)).filter((type) => !type.endsWith('Died')));
        assert.deepEqual([...steps], ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'MintedByOther']);
      }
    });

    for (const [from, to] of killed)
      it(`arrives once after a kill of the service, from ${from}`, async () => {
        const stream = await order(from, to);
        await sandbox.until(async () => (await typesIn(stream)).includes('BurnSigned'));
        await sandbox.kill();
        assert.equal(await sandbox.start(), 'ready', sandbox.printed());
        await sandbox.until(async () => (await typesIn(stream)).includes('MintedByOther'));
        assert.equal((await typesIn(stream)).filter((type) => type === 'MintedByOther').length, 1);
      });

    it('leaves log, chains and read models without a finding of the audit', async () => {
      // The last blocks become final in a moment, and returned coin is recorded in the next comparison of the books.
      let audited = '';
      const isClean = () =>
        run('audit', '--json').then(
          () => true,
          ({ stdout }: { stdout: string }) => {
            audited = stdout;
            return false;
          },
        );
      await sandbox.until(isClean).catch(() => assert.fail(audited.slice(0, 4_000)));
    });
  });
}
