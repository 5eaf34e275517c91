/**
 * Money moves from Base to Solana, back with fast finality, and from Solana to Stellar, by an operator's orders. The service is killed behind
 * each step of a move: each burns once and mints once, and the audit finds nothing afterwards.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseUnits } from 'viem';
import { eventCodec, verifyChain } from '../../commands/codec.ts';
import type { RebalanceEvent } from '../../domain/rebalance/events.ts';
import { transitOf } from '../../domain/rebalance/inTransit.ts';
import { type RebalanceState, rebalance, rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import { createSandbox } from '../support/sandbox.ts';

const chainIds = [8453, 501, 1500] as const;
const steps = ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'];
/** In the order of a move's life. */
const points = [
  ...['burn.afterSign', 'BurnSigned.afterAppend', 'burn.afterBroadcast', 'BurnConfirmed.afterAppend'],
  ...['BurnAttested.afterAppend', 'mint.afterSign', 'MintSigned.afterAppend', 'mint.afterBroadcast'],
  'MintConfirmed.afterAppend',
];
const routes = [
  { from: '8453', to: 'solana', options: [] },
  { from: 'solana', to: '8453', options: ['--fast'] },
  { from: 'solana', to: 'stellar', options: [] },
] as const;

describe('moves with Solana in a sandbox', () => {
  const sandbox = createSandbox({ chains: chainIds });
  after(() => sandbox.destroy());
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await sandbox.kill();
  });
  let moves = 0;

  const run = (name: string, ...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  };
  const start = async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed());

  async function typesIn(stream: string): Promise<readonly string[]> {
    const events = (await sandbox.history()).get(stream) ?? [];
    assert.equal(verifyChain(events), null, stream);
    return events.map(({ type }) => type);
  }

  async function moveOf(stream: string): Promise<RebalanceState> {
    const events = (await sandbox.history()).get(stream) ?? [];
    return events.reduce<RebalanceState>((folded, stored) => {
      const event = eventCodec.read(stored) as RebalanceEvent | null;
      return event ? rebalance.evolve(folded, event) : folded;
    }, null);
  }

  /** Each order has an amount of its own: an equal order is the same move until that move is over. */
  const orderOf = ({ from, to, options }: (typeof routes)[number], amount: string) =>
    run('treasury', 'rebalance', from, 'USDC', amount, to, '--burn', ...options, '--reason', 'a test');
  const nextAmount = () => String(500 + ++moves);

  /** The stream of the move of this amount; undefined before its order. */
  async function streamOf(amount: string): Promise<string | undefined> {
    const streams = [...(await sandbox.history()).keys()].filter((name) => name.startsWith('rebalance-'));
    for (const stream of streams) {
      const { amount: asked, from } = (await moveOf(stream))?.ordered ?? {};
      if (from && asked === String(parseUnits(amount, from.token.decimals))) return stream;
    }
    return undefined;
  }

  async function arrived(amount: string): Promise<void> {
    let stream: string | undefined;
    await sandbox
      .until(async () => {
        stream ??= await streamOf(amount);
        const state = stream === undefined ? null : await moveOf(stream);
        return state !== null && rebalanceStanding(state) === 'done';
      })
      .catch(async () => assert.fail(`${(await typesIn(stream ?? '')).join()}\n${sandbox.printed()}`));
    assert.ok(stream);
    const types = await typesIn(stream);
    // A killed service may find its bytes dead on a slow machine, and signs again.
    assert.deepEqual([...new Set(types.filter((type) => !type.endsWith('Died')))], steps);
    for (const once of ['BurnConfirmed', 'BurnAttested', 'MintConfirmed'])
      assert.equal(types.filter((type) => type === once).length, 1, `${once} of ${stream}`);
    const state = await moveOf(stream);
    assert.ok(state);
    const { burned, minted, fee, inTransit } = transitOf(state);
    assert.deepEqual([burned, minted + fee, inTransit], [parseUnits(amount, 6), parseUnits(amount, 6), 0n]);
  }

  async function auditIsClean(): Promise<void> {
    // The last blocks become final in a moment; until then the audit reports that it could not read them.
    let audited = '';
    const isClean = async () => {
      audited = await run('audit', '--json').then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      const { findings, gaps, readModels } = JSON.parse(audited);
      return [findings, gaps, readModels.findings].every(({ length }) => length === 0);
    };
    await sandbox.until(isClean).catch(() => assert.fail(audited.slice(0, 4_000)));
  }

  it('arrives once on Solana from Base, on Base from Solana, and on Stellar from Solana', async () => {
    await start();
    await run('treasury', 'allow-burns', '8453', '100000');
    await assert.rejects(run('treasury', 'allow-burns', 'solana', '1000'), /needs no allowance/);
    for (const route of routes) {
      const amount = nextAmount();
      await orderOf(route, amount);
      await arrived(amount);
    }
    await auditIsClean();
    await sandbox.kill();
  });

  for (const route of routes)
    for (const point of points)
      it(`arrives once from ${route.from} on ${route.to} after a death at ${point}`, async () => {
        const amount = nextAmount();
        if ((await sandbox.start({ CRASH_AT: point })) === 'ready')
          // Once the order is stored, the death may interrupt the tool.
          void orderOf(route, amount).catch(() => {});
        assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
        await start();
        await arrived(amount);
        await auditIsClean();
        await sandbox.kill();
      });

  it('counts no mint of its own as a payin', async () => {
    const streams = [...(await sandbox.history()).keys()];
    assert.deepEqual(
      streams.filter((stream) => stream.startsWith('unmatched-')),
      [],
    );
  });
});
