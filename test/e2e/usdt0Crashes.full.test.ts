/** Moves by USDT0 whose service is killed at each step: each sends once and arrives once, and the audit finds nothing afterwards. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Address, parseAbiItem, parseUnits } from 'viem';
import { eventCodec, verifyChain } from '../../commands/codec.ts';
import type { RebalanceEvent } from '../../domain/rebalance/events.ts';
import { transitOf } from '../../domain/rebalance/inTransit.ts';
import { type RebalanceState, rebalance, rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import { counterpartyOn, sendableOn, type Usdt0ChainId, withFeeMargin } from '../../domain/rebalance/usdt0.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { messagePrice_wei } from '../../sandbox/usdt0.ts';
import { wholeTokens } from '../../sandbox/world.ts';
import { accountOf } from '../../src/chains/evm/signer/signer.ts';
import { chainClient } from '../support/anvil.ts';
import { createSandbox } from '../support/sandbox.ts';

const [from, to] = [42161, 137] as const;
const around = (...appends: readonly string[]) =>
  appends.flatMap((append) => [`${append}.beforeAppend`, `${append}.afterAppend`]);
/** In the order of a move's life, which an operator orders. */
const pointsOfMove = [
  ...['burn.beforeSign', 'burn.afterSign', ...around('BurnSigned')],
  ...['burn.beforeBroadcast', 'burn.afterBroadcast', ...around('BurnConfirmed', 'MintedByOther')],
];
/** Besides, a move that the policy plans and orders. */
const pointsOfPlan = [...around('MovePlanned', 'RebalanceOrdered'), ...pointsOfMove, ...around('PlannedMoveEnded')];
const steps = ['RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'MintedByOther'];

const [minimum, target, maximum] = [wholeTokens + 10_000n, wholeTokens + 20_000n, 10n * wholeTokens];
const policy = {
  FLOAT_POLICY: 'automatic',
  FLOAT_LIMITS_USDT: `137:${minimum}:${target}:${maximum},42161:100:200:${maximum}`,
  FLOAT_COOLDOWN_MINUTES: '10080',
  FLOAT_AUTOMATIC_BELOW_USD: '100000',
  SIGNER_MAX_TRANSFER_USD: '100000',
  SIGNER_MAX_HOUR_USD: '1000000',
};
/** Coin that the contract returns of each move: the order states a quarter more than the message costs. */
const excess_wei = withFeeMargin(messagePrice_wei) - messagePrice_wei;
const transfers = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

interface Finding {
  readonly code: string;
  readonly message: string;
}

interface Audited {
  readonly findings: readonly Finding[];
  readonly gaps: readonly unknown[];
  readonly readModels: { readonly findings: readonly unknown[] };
}

describe('kill -9 of the service at each step of a move by USDT0', () => {
  const sandbox = createSandbox({ chains: [from, to] });
  after(() => sandbox.destroy());
  const settings = { POLL_MS_42161: '50', POLL_MS_137: '50' };
  /** Nodes of the chains, which run on while no service does. */
  const rpcUrls = new Map<Usdt0ChainId, string>();
  /** Amounts that were ordered until now, in smallest units. */
  const ordered: bigint[] = [];

  const run = async (name: string, ...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  };

  /** Moves of the log by their streams. */
  async function moves(): Promise<ReadonlyMap<string, NonNullable<RebalanceState>>> {
    const found = new Map<string, NonNullable<RebalanceState>>();
    for (const [stream, events] of await sandbox.history()) {
      if (!stream.startsWith('rebalance-')) continue;
      assert.equal(verifyChain(events), null, stream);
      const state = events.reduce<RebalanceState>((folded, stored) => {
        const event = eventCodec.read(stored) as RebalanceEvent | null;
        return event ? rebalance.evolve(folded, event) : folded;
      }, null);
      if (state) found.set(stream, state);
    }
    return found;
  }

  /** Sum of USDT that the treasury burned on one chain or that was minted to it on another, by the token's own logs. */
  async function moved(chainId: Usdt0ChainId, side: 'burned' | 'minted'): Promise<bigint> {
    const treasury = accountOf(keepKeys(sandbox.dataDir).treasury) as Address;
    const nobody = counterpartyOn(chainId) as Address;
    const logs = await chainClient(rpcUrls.get(chainId) ?? '').getLogs({
      address: sendableOn(chainId)?.address as Address,
      event: transfers,
      args: side === 'burned' ? { from: treasury, to: nobody } : { from: nobody, to: treasury },
      fromBlock: 0n,
      strict: true,
    });
    return logs.reduce((sum, { args }) => sum + args.value, 0n);
  }

  let opening = { burned: 0n, minted: 0n };
  const onChains = async () => ({
    burned: (await moved(from, 'burned')) - opening.burned,
    minted: (await moved(to, 'minted')) - opening.minted,
  });

  /** Holds at any moment, also while no service runs: the log has at most what the chains have. */
  async function checkMoney(): Promise<void> {
    const recorded = [...(await moves()).values()].map(transitOf);
    const sum = (name: 'burned' | 'minted' | 'fee' | 'inTransit') =>
      recorded.reduce((total, each) => total + each[name], 0n);
    assert.equal(sum('fee'), 0n);
    assert.equal(sum('burned'), sum('minted') + sum('inTransit'), 'sent = arrived + in transit');
    const { burned, minted } = await onChains();
    assert.ok(sum('minted') <= minted && minted <= burned, `${sum('minted')} recorded, ${minted} of ${burned} arrived`);
    assert.ok(sum('burned') <= burned, `${sum('burned')} recorded, ${burned} sent`);
  }

  async function diesAt(point: string, prompt: () => Promise<unknown>, more: Record<string, string> = {}) {
    // Once the order is stored, the tool may be interrupted with the service's event store.
    if ((await sandbox.start({ ...settings, ...more, CRASH_AT: point })) === 'ready') void prompt().catch(() => {});
    assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    await checkMoney();
  }

  /** Without further crashes every move arrives once, and the audit is clean. */
  async function recovers(more: Record<string, string> = {}): Promise<void> {
    assert.equal(await sandbox.start({ ...settings, ...more }), 'ready', sandbox.printed());
    await sandbox.until(async () => {
      const states = [...(await moves()).values()];
      return states.length === ordered.length && states.every((each) => rebalanceStanding(each) === 'done');
    });
    await checkMoney();
    const sum = ordered.reduce((total, each) => total + each, 0n);
    assert.deepEqual(await onChains(), { burned: sum, minted: sum });
    for (const [stream, events] of await sandbox.history()) {
      if (!stream.startsWith('rebalance-')) continue;
      const types = events.map(({ type }) => type).filter((type) => steps.includes(type));
      // A slow machine may replace a send by one with a higher fee: only its signature is repeated.
      assert.deepEqual([...new Set(types)], steps, stream);
      for (const once of steps.filter((type) => type !== 'BurnSigned'))
        assert.equal(types.filter((type) => type === once).length, 1, `${once} of ${stream}`);
    }
    await auditIsClean();
    await sandbox.kill();
  }

  /** Coin that the contract returned is no finding here: the next comparison of the books records it, within minutes (usdt0.full.test.ts). */
  async function auditIsClean(): Promise<void> {
    // The last blocks become final in a moment; until then the audit reports that it could not read them.
    let audited = '';
    const isClean = async () => {
      audited = await run('audit', '--json').then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      const { findings, gaps, readModels } = JSON.parse(audited) as Audited;
      const left = findings.filter((each) => !isReturnedCoin(each));
      return [left, gaps, readModels.findings].every(({ length }) => length === 0);
    };
    await sandbox.until(isClean).catch(() => assert.fail(audited.slice(0, 4_000)));
  }

  /** True for a positive multiple of one move's excess, at most that of all moves. */
  function isReturnedCoin({ code, message }: Finding): boolean {
    const besides = BigInt(/ of coin, (\d+) besides /.exec(message)?.[1] ?? 0);
    const most = BigInt(ordered.length) * excess_wei;
    return code === 'booksOpen' && besides > 0n && besides % excess_wei === 0n && besides <= most;
  }

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    for (const chainId of [from, to]) rpcUrls.set(chainId, sandbox.file().chains[String(chainId)]?.rpcUrl ?? '');
    opening = await onChains();
    await sandbox.kill();
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await sandbox.kill();
  });

  for (const [n, point] of pointsOfMove.entries())
    it(`arrives once after a death at ${point}`, async () => {
      // Each order has an amount of its own: an equal order is the same move until that move is over.
      const amount = String(500 + n);
      ordered.push(parseUnits(amount, 6));
      await diesAt(point, () =>
        run('treasury', 'rebalance', String(from), 'USDT', amount, String(to), '--burn', '--reason', 'a test'),
      );
      await recovers();
    });

  for (const point of pointsOfPlan)
    it(`dies at ${point} of one move, which the policy orders`, () => diesAt(point, async () => {}, policy));

  it('arrives once after all these deaths', async () => {
    const planned = (await moves()).get('rebalance-usdt-1');
    ordered.push(BigInt(planned?.ordered.amount ?? 0));
    await recovers(policy);
    const plan = ((await sandbox.history()).get('floatPlan-usdt') ?? []).map(({ type }) => type);
    assert.deepEqual(plan, ['MovePlanned', 'PlannedMoveEnded']);
  });
});
