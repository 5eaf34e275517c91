import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isFull } from '../support/suite.ts';
import { kindOf } from './report/coverage.ts';
import { processSeeds, type SimulationWorker, startWorker } from './startWorker.ts';
import type { Job, Told } from './worker.ts';
import { habitNames } from './world/habits.ts';

const program = fileURLToPath(new URL('./run.ts', import.meta.url));

/**
 * Seeds of each spec. The gate uses the first ones of the full suite's: 8 worlds have each pair of chains, 6 of one payment restore
 * the log and Postgres, and every third world has a second instance. Its crashes do not depend on luck: 12 worlds crash at 19 of 20 places.
 */
const counts = isFull
  ? { worlds: 250, ofOnePayment: 150, withCrashes: 30, withHabits: 60, withRelays: 60, processes: 2 }
  : { worlds: 12, ofOnePayment: 6, withCrashes: 12, withHabits: 4, withRelays: 2, processes: 1 };

/** Fewer faults mean that the worlds are too quiet to prove anything. */
const faultsPerWorld = 50;

/** Traces of the first seeds, without habits. A change of the service changes them: write the new ones here, and state the reason. */
const pinned: readonly string[] = ['3f36844116f69ded', 'b2c3832741c749c9', 'de6f6be31df89526'];

/** Event types of worlds with all habits, besides those of all worlds. */
const expectedTypes = [
  ...['BatchOpened', 'BatchSigned', 'BatchConfirmed', 'PayoutBatched'],
  ...['OperationOrdered', 'OperationSigned', 'OperationConfirmed', 'AddressAdded', 'AllowanceTaken'],
  ...['UnmatchedPayinSeen', 'UnmatchedPayinRefundRequested', 'UnmatchedRefundConfirmed'],
  ...['RefundRequested', 'RefundConfirmed', 'SourceChosen', 'RebalanceArrived'],
  ...['CreditEarned', 'CreditSpent', 'CashbackReceived', 'CashbackWithdrawn', 'WithdrawalOrdered'],
  ...['BurnSigned', 'BurnConfirmed', 'MintedByOther'],
  ...['FundingUsed', 'MoneyUsed', 'SpendingCounted', 'TransferSigned'],
];

interface Asked extends Omit<Job, 'count'> {
  readonly seeds: number;
}

/** Running processes, each with the number of seeds that it has been given. */
const workers: { readonly worker: SimulationWorker; seeds: number }[] = [];

/** Runs the seeds in the first processes of the file: the gate needs one. */
async function simulate({ seeds, processes = counts.processes, ...job }: Asked & { processes?: number }) {
  const told: Told[] = [];
  const share = Math.ceil(seeds / processes);
  const runShare = async (_: unknown, at: number): Promise<void> => {
    const last = Math.min(seeds, (at + 1) * share);
    for (let next = at * share; next < last; ) {
      const count = Math.min(last - next, processSeeds);
      await (await workerFor(at, count)).run({ ...job, from: job.from + next, count }, (one) => told.push(one));
      next += count;
    }
  };
  await Promise.all(Array.from({ length: processes }, runShare));
  assert.equal(told.length, seeds, 'not all seeds were run');
  return told.toSorted((a, b) => a.seed - b.seed);
}

async function workerFor(at: number, count: number): Promise<SimulationWorker> {
  let slot = workers[at];
  if (slot === undefined || slot.seeds + count > processSeeds) {
    await slot?.worker.end();
    slot = { worker: startWorker(), seeds: 0 };
    workers[at] = slot;
  }
  slot.seeds += count;
  return slot.worker;
}

const failed = (told: readonly Told[]) => told.filter(({ failure }) => failure !== null);

describe('the service in a simulated world', function () {
  // Processes of their own load the whole service.
  this.timeout(1_800_000);
  let told: readonly Told[];
  after(() => Promise.all(workers.splice(0).map(({ worker }) => worker.end())));

  it('keeps its promises in the first seeds', async () => {
    told = await simulate({ from: 1, seeds: counts.worlds });
    assert.deepEqual(failed(told), []);
    const wrong = told.reduce((sum, { faults }) => sum + faults, 0);
    assert.ok(wrong > faultsPerWorld * counts.worlds, 'hardly anything went wrong in these worlds');
  });

  it('keeps them in more worlds, of one payment each', async () => {
    const worlds = await simulate({ from: 301, seeds: counts.ofOnePayment, payments: 1 });
    assert.deepEqual(failed(worlds), []);
  });

  it('keeps them when it crashes before and after each kind of call', async () => {
    // One process, because its worlds share the places.
    const how = { crashes: true, habits: [], processes: 1 };
    const worlds = await simulate({ from: 1, seeds: counts.withCrashes, ...how });
    assert.deepEqual(failed(worlds), []);
    const passed = new Set(worlds.flatMap(({ crashes }) => crashes?.passed ?? []));
    const crashed = new Set(worlds.flatMap(({ crashes }) => crashes?.happened ?? []).map(kindOf));
    assert.ok(passed.size > 200, `${passed.size} places`);
    assert.ok(crashed.size > 0.9 * passed.size, `crashed at ${crashed.size} of ${passed.size} places`);
    for (const place of ['before.store.append', 'after.store.append', 'at.payout.afterSign', 'before.pg.commit'])
      assert.ok(crashed.has(`crash.${place}`), place);
  });

  it('keeps them at each crash in worlds with all habits too', async function () {
    if (!isFull) this.skip();
    const how = { crashes: true, habits: habitNames, processes: 1 };
    const worlds = await simulate({ from: 1, seeds: 12, ...how });
    assert.deepEqual(failed(worlds), []);
    const passed = new Set(worlds.flatMap(({ crashes }) => crashes?.passed ?? []));
    const crashed = new Set(worlds.flatMap(({ crashes }) => crashes?.happened ?? []).map(kindOf));
    assert.ok(passed.size > 330, `${passed.size} places`);
    assert.ok(crashed.size > 0.9 * passed.size, `crashed at ${crashed.size} of ${passed.size} places`);
    for (const place of ['before.signer.sign', 'after.signerStore.append', 'at.withdrawal.afterDecided'])
      assert.ok(crashed.has(`crash.${place}`), place);
  });

  it('keeps them where money moves in other ways: batches, sweeps, withdrawals, credit, several sources, a signer', async () => {
    const worlds = await simulate({ from: 26, seeds: counts.withHabits, habits: habitNames });
    assert.deepEqual(failed(worlds), []);
    const types = new Set(worlds.flatMap(({ events }) => events));
    for (const type of expectedTypes) assert.ok(types.has(type), `no world wrote ${type}`);
  });

  it('keeps them where payers sign authorizations, also beside a signer: nobody is relayed twice, and all gas is in the log', async () => {
    const seeds = counts.withRelays / 2;
    const alone = await simulate({ from: 7, seeds, habits: ['relays'] });
    const besideSigner = await simulate({ from: 36, seeds, habits: ['relays', 'signer'] });
    const worlds = [...alone, ...besideSigner];
    assert.deepEqual(failed(worlds), []);
    const types = new Set(worlds.flatMap(({ events }) => events));
    for (const type of ['RelayOrdered', 'RelayAccountOpened', 'RelaySigned', 'RelayConfirmed', 'RelayEnded'])
      assert.ok(types.has(type), `no world wrote ${type}`);
    assert.ok(
      besideSigner.some(({ events }) => events.includes('RelayConfirmed')),
      'no relay landed beside a signer',
    );
  });

  it('keeps them when the signer crashes while the service’s database is restored', async () => {
    const worlds = await simulate({ from: 954, seeds: 1 });
    assert.deepEqual(failed(worlds), []);
  });

  it('pays out although the signer has signed a refund that was called off, and the payout has the first nonce', async () => {
    const worlds = await simulate({ from: 346, seeds: 1, payments: 1 });
    assert.deepEqual(failed(worlds), []);
  });

  it('refunds the money of two chains by one order of all that is held', async () => {
    const worlds = await simulate({ from: 9325, seeds: 1 });
    assert.deepEqual(failed(worlds), []);
  });

  it('runs a world without these habits as it ran before there were any', async () => {
    const worlds = await simulate({ from: 1, seeds: pinned.length, habits: [], processes: 1 });
    assert.deepEqual(
      worlds.map(({ hash }) => hash.slice(0, 16)),
      pinned,
    );
  });

  it('replays a seed exactly, whatever ran in its process before, by the command that a failing seed prints', async () => {
    // The shortest of the later worlds: the other process starts with nothing compiled.
    const [{ seed }] = told.slice(1).toSorted((one, other) => one.steps - other.steps) as [Told, ...Told[]];
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--seed', String(seed), '--no-shrink']);
    const [, trace] = /trace ([0-9a-f]{16}): all is well/.exec(stdout) ?? [];
    assert.equal(trace, told.find((each) => each.seed === seed)?.hash.slice(0, 16));
  });

  it('prints each result of many seeds as JSON', async function () {
    if (!isFull) this.skip();
    const given = ['--json', '--no-shrink', '--from', '1', '--seeds', '2', '--processes', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...given]);
    const printed = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Told] : []));
    assert.deepEqual(
      printed.toSorted((a, b) => a.seed - b.seed),
      told.slice(0, 2),
    );
  });
});
