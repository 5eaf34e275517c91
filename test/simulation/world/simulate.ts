/** One run: a world from a seed, all of its events, and the check of its invariants. */
import { createHash } from 'node:crypto';
import type { ChainId } from '../../../domain/chains.ts';
import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import { instant } from '../../../domain/time.ts';
import { projectionSets } from '../../../projections/sets.ts';
import { randomOf } from '../../../sandbox/random.ts';
import { createAgenda } from '../kernel/agenda.ts';
import { type ChosenFaults, createFaults } from '../kernel/faults.ts';
import { quiet, replaceGlobals, restoreGlobals } from '../kernel/globals.ts';
import type { Kernel, OpenChain, Random, SimulatedChain } from '../kernel/ports.ts';
import { beginRun, type Run, type Weather } from '../kernel/run.ts';
import { createPostgres } from '../postgres/server.ts';
import { createLog } from '../store/log.ts';
import { createAttester } from './attester.ts';
import { type Credit, createCredit } from './credit.ts';
import { checkCredit } from './creditChecks.ts';
import { type Customers, startCustomers } from './customers.ts';
import { checkPayins, checkPayouts, checkRebuild, checkRefunds, prepare, unseenPayins } from './ends.ts';
import { startExecutors } from './executors.ts';
import { type Habit, type Habits, habitsOf } from './habits.ts';
import { type Watched, watchInvariants } from './invariants.ts';
import { checkMoney } from './money.ts';
import { checkMoves } from './moveChecks.ts';
import { type Movers, startMovers } from './movers.ts';
import { dutiesOf, type Operators, startOperators } from './operators.ts';
import { type Rebalancers, startRebalancers } from './rebalancers.ts';
import { checkRelays } from './relayChecks.ts';
import { createRelayedPayers, type RelayedPayers } from './relayedPayers.ts';
import { planRestore, restoredIn } from './restore.ts';
import { configOf, createInstance, signerConfigOf } from './service.ts';
import { createSigner } from './signer.ts';
import { checkSigner } from './signerChecks.ts';
import { stockDeposits } from './stock.ts';
import { type StrayMoney, startStrayMoney } from './strayMoney.ts';
import { startTreasurers, type Treasurers } from './treasurers.ts';
import { checkTreasury } from './treasury.ts';
import { Violation } from './violation.ts';

export interface Asked {
  readonly seed: number;
  /** All supported chains: a world has some of them. */
  readonly chains: readonly (readonly [ChainId, OpenChain])[];
  /** Only these faults; null: those of the seed. */
  readonly only: ChosenFaults | null;
  /** Default: drawn from the seed. */
  readonly payments?: number;
  /** These habits alone. Default: those that the seed draws. */
  readonly habits?: readonly Habit[];
  /** Given every line of the trace. */
  readonly traced?: (line: string) => void;
  readonly onStatement?: Run['onStatement'];
}

export interface Outcome {
  readonly seed: number;
  /** Hash of the whole trace: equal in two runs of a seed. */
  readonly hash: string;
  readonly failure: { readonly invariant: string; readonly message: string } | null;
  readonly steps: number;
  readonly simulated_ms: number;
  readonly payments: number;
  readonly faults: readonly string[];
  /** Number of passes of each place where something could go wrong. */
  readonly passed: ReadonlyMap<string, number>;
  /** Number of events of each type. */
  readonly events: ReadonlyMap<string, number>;
  /** Alarms of the service, with their numbers. */
  readonly alarms: ReadonlyMap<string, number>;
}

const start_ms = Date.UTC(2026, 0, 5, 9);
/** Maximum duration of faults, which end when all payments have ended; longer if held money is refunded afterwards. */
const faultsWithin_ms = 80_000;
const refundsWithin_ms = 150_000;
/** Deposits of payments that are over are collected every minute: by then all of them are. */
const sweepsWithin_ms = 140_000;
/** Payments of a world: many small worlds cover more than a few large ones. */
const sizes: readonly [number, ...number[]] = [1, 1, 1, 2, 2, 2, 3, 3, 4, 6];
/** More payments of worlds in which payouts are put together. */
const more = 3;
/** One of this many worlds begins without deposit addresses in stock. */
const emptyStocks = 20;
const restartsWithin_ms = 8_000;
/** A payment without an end this long after the last fault never ends. */
const endsWithin_ms = 3 * 60 * 60_000;
const stepsMost = 400_000;

const weathers: readonly [Weather, ...Weather[]] = [
  { crash: 0, loss: 0.004, repeat: 0.02, way_ms: 20 },
  { crash: 0.001, loss: 0.001, repeat: 0.01, way_ms: 20 },
  { crash: 0.002, loss: 0.004, repeat: 0.02, way_ms: 60 },
  { crash: 0.004, loss: 0.002, repeat: 0.02, way_ms: 20 },
  { crash: 0.0005, loss: 0.02, repeat: 0.1, way_ms: 300 },
];

/** Modules that the service loads lazily take real time: a first run loads them, and is not checked. */
let isWarm = false;

export async function simulate(asked: Asked): Promise<Outcome> {
  if (!isWarm) {
    isWarm = true;
    await simulate({ seed: 0, chains: asked.chains, only: null });
  }
  const world = createWorld(asked);
  // A real process would end by it.
  const unheard = (error: unknown) =>
    world.run.broken(new Violation('heard', `nobody hears of ${String((error as Error)?.stack ?? error)}`));
  process.on('unhandledRejection', unheard);
  replaceGlobals();
  beginRun(world.run);
  let failure: Outcome['failure'] = null;
  try {
    await live(world);
  } catch (error) {
    failure = failureOf(error);
    world.run.note(`FAILED ${failure.invariant}: ${failure.message}`);
  } finally {
    restoreGlobals();
    beginRun(null);
    process.off('unhandledRejection', unheard);
  }
  return world.outcome(failure);
}

const failureOf = (error: unknown): NonNullable<Outcome['failure']> =>
  error instanceof Violation
    ? { invariant: error.invariant, message: error.message }
    : { invariant: 'program', message: String((error as Error)?.stack ?? error) };

type World = ReturnType<typeof createWorld>;

function createWorld({
  seed,
  chains: there,
  only,
  payments,
  habits: wanted,
  traced = () => {},
  onStatement = () => {},
}: Asked) {
  const random = randomOf(String(seed));
  const agenda = createAgenda(start_ms);
  const faults = createFaults(seed, only);
  const hash = createHash('sha256');
  const events = new Map<string, number>();
  const alarms = new Map<string, number>();
  const restarts = random.fork('restarts');
  let steps = 0;
  let broke: unknown;

  const note = (line: string): void => {
    const text = `${((agenda.now_ms() - start_ms) / 1_000).toFixed(3)} ${line}`;
    hash.update(text).update('\n');
    traced(text);
  };
  const count = (in_: Map<string, number>, name: string) => in_.set(name, (in_.get(name) ?? 0) + 1);

  const log = createLog((event) => {
    watched.appended(event);
    count(events, event.type);
    note(`${event.stream} ${event.revision} ${event.type} ${event.id}`);
  });
  const signerLog = createLog((event) => {
    watched.signed(event);
    count(events, event.type);
    note(`signer ${event.stream} ${event.revision} ${event.type} ${event.id}`);
  });
  const postgres = createPostgres(agenda.now_ms);
  for (const set of projectionSets) prepare(postgres, set);
  if (random.fork('stock').below(emptyStocks) > 0) stockDeposits(postgres);
  const kernel: Kernel = {
    random: random.fork('chains'),
    fails: faults.fails,
    now_ms: agenda.now_ms,
    after: agenda.after,
    note,
  };
  const backups = random.fork('backups');
  const restored = restoredIn(backups);
  // After a restored log these are unknown in such a world.
  const habits = habitsOf(random, restored === 'log' ? [] : (wanted ?? null));
  const networks = networksOf(random, there, habits);
  const chains: readonly SimulatedChain[] = networks.map(([chainId, open]) =>
    open({ ...kernel, random: kernel.random.fork(String(chainId)) }, chainId),
  );
  const config = configOf(chains, habits);
  const settled = habits.has('credit') ? walletOf(random.fork('wallet'), chains) : null;
  const wallet = settled && {
    ...{ chainId: settled.chain.chainId, tokenSymbol: 'USDC' },
    ...{ receiverAddress: settled.receiver, receiverMemo: null },
  };
  const [first, second] = [createInstance('a', config, wallet), createInstance('b', config, wallet)];
  const instances = [first, second];
  const signer = habits.has('signer') ? createSigner(signerConfigOf(chains)) : null;
  let calm = false;
  let halted = false;
  const receiver: Run['stores']['receiver'] = {
    received({ headers }) {
      const id = headers['webhook-id'] ?? '';
      note(`webhook ${id}`);
      watched.delivered(id, 'X-Service-First-Delivery' in headers);
    },
  };
  const run: Run = {
    seed,
    agenda,
    faults,
    random: random.fork('network'),
    chance: random.fork('service'),
    weather: random.fork('weather').pick(weathers),
    stores: { log, signerLog, postgres, receiver },
    attester: createAttester(random.fork('attester'), chains),
    servers: new Map(),
    nodes: new Map(chains.flatMap(({ nodes }) => nodes.map((node) => [node.url, node]))),
    note,
    onStatement,
    alarmed(reason, message) {
      count(alarms, reason);
      note(`alarm ${reason} ${message}`);
    },
    broken(error) {
      broke ??= error;
    },
    crashed(process) {
      const instance = [...instances, signer].find((each) => each?.has(process));
      agenda.after(200 + restarts.below(restartsWithin_ms), () => {
        if (!instance?.has(process)) return;
        // A restore stops the service alone: its signer keeps a log of its own.
        if (instance === signer || (!halted && (instance !== second || !calm))) instance.start();
      });
    },
  };
  let customers: Customers | null = null;
  let operators: Operators | null = null;
  let treasurers: Treasurers | null = null;
  let stray: StrayMoney | null = null;
  let credit: Credit | null = null;
  let rebalancers: Rebalancers | null = null;
  let movers: Movers | null = null;
  let signers: RelayedPayers | null = null;
  const watched: Watched = watchInvariants(chains, habits.has('signer'), () => ({
    orders: customers?.orders ?? [],
    refundRequests: operators?.refundRequests ?? [],
    withdrawals: treasurers?.withdrawals ?? [],
    strayRefunds: stray?.refunds ?? [],
    rebalances: rebalancers?.rebalances ?? [],
  }));
  const drawn = random.pick(sizes);
  const evm = chains.find(({ family }) => family === 'evm') ?? null;
  const together = habits.has('batches') ? evm : null;
  const orders = payments ?? drawn + (together ? more : 0);
  const byHand = random.fork('operators');
  const duties = dutiesOf(byHand, restored === 'log', habits);

  return {
    run,
    duties,
    habits,
    isLogRestored: restored === 'log',
    chains,
    instances,
    watched,
    begin() {
      signer?.start();
      first.start();
      // A second one competes in some worlds, for a while.
      if (restarts.below(3) === 0)
        agenda.after(restarts.below(30_000), () => {
          if (!halted) second.start();
        });
      credit = settled && createCredit(random.fork('credit'));
      signers = habits.has('relays') ? createRelayedPayers(random.fork('relays'), instances) : null;
      customers = startCustomers(random.fork('customers'), {
        ...{ chains, instances, count: orders },
        overpay: duties.refund,
        together,
        payerOf: credit?.payerOf,
        signs: signers?.signs,
        choices: habits.has('sources') ? random.fork('sources') : undefined,
      });
      credit?.start(instances, watched);
      operators = startOperators(byHand, { duties, chains, orders: customers.orders, instances, watched });
      treasurers = startTreasurers(random.fork('treasurers'), {
        ...{ active: habits.has('withdrawals'), chains, instances },
      });
      stray = startStrayMoney(random.fork('stray money'), {
        ...{ active: habits.has('strayMoney'), chains, instances, watched, orders: customers.orders },
      });
      rebalancers = startRebalancers(random.fork('rebalancers'), {
        ...{ active: habits.has('rebalances'), chains, instances, watched },
      });
      movers = startMovers(random.fork('movers'), {
        ...{ active: habits.has('rebalances'), chains, instances, watched },
      });
      if (habits.has('rebalances')) startExecutors(random.fork('executors'), chains);
      planRestore(backups, restored, {
        ...{ chains, instances, customers, watched },
        halt() {
          halted = true;
          for (const instance of instances) instance.end();
        },
        resume() {
          halted = false;
          first.start();
        },
        isCalm: () => calm,
      });
      return { customers, operators, treasurers, stray, credit, rebalancers, movers, signers, settled };
    },
    /** Stops faults; then one instance has time to finish. */
    calmDown() {
      calm = true;
      faults.stop();
      for (const chain of chains) chain.calm();
      second.end();
      note('faults stop');
    },
    stepped() {
      if (broke !== undefined) throw broke;
      steps += 1;
      return steps;
    },
    outcome: (failure: Outcome['failure']): Outcome => ({
      seed,
      hash: hash.update(`${steps}`).digest('hex'),
      failure,
      steps,
      simulated_ms: agenda.now_ms() - start_ms,
      payments: orders,
      faults: faults.happened,
      passed: faults.passed,
      events,
      alarms,
    }),
  };
}

/** Two of the networks, in few worlds three. Half of the worlds with rebalances have those of USDT0 first. */
function networksOf(random: Random, there: Asked['chains'], habits: Habits): Asked['chains'] {
  const chosen = random.fork('networks');
  const count = chosen.below(4) === 0 ? 3 : 2;
  const isFirst = habits.has('rebalances') && random.fork('usdt0').below(2) === 0;
  const first = there.filter(([chainId]) => isFirst && isUsdt0Chain(chainId)).slice(0, count);
  const left = there.filter((each) => !first.includes(each));
  const others = Array.from({ length: count - first.length }, () => left.splice(chosen.below(left.length), 1));
  return [...first, ...others.flat()];
}

async function live(world: World): Promise<void> {
  const { run, chains, watched } = world;
  const { agenda, stores } = run;
  const { customers, operators, treasurers, stray, credit, rebalancers, movers, signers, settled } = world.begin();

  async function until(end_ms: number, isDone: () => boolean): Promise<void> {
    let looked_ms = agenda.now_ms();
    for (;;) {
      const next = agenda.next(end_ms);
      if (!next) return;
      next();
      await quiet();
      watched.check();
      if (world.stepped() > stepsMost)
        throw new Violation('ends', `not at rest after ${stepsMost} steps, open: ${openDuties().join(', ')}`);
      if (agenda.now_ms() - looked_ms < 1_000) continue;
      looked_ms = agenda.now_ms();
      if (isDone()) return;
    }
  }

  const begun = world.habits.has('sweeps') ? start_ms + sweepsWithin_ms : start_ms;
  const duties: Readonly<Record<string, () => boolean>> = {
    customers: customers.done,
    operators: operators.done,
    treasurers: treasurers.done,
    'stray money': stray.done,
    rebalancers: rebalancers.done,
    movers: movers.done,
    credit: credit?.done ?? (() => true),
    payments: () => watched.ended(instant(agenda.now_ms())),
  };
  const openDuties = (): readonly string[] =>
    Object.entries(duties).flatMap(([name, isDone]) => (isDone() ? [] : [name]));
  const isOver = () => agenda.now_ms() >= begun && Object.values(duties).every((isDone) => isDone());
  // Credit is earned when a payment has ended, then spent, and then withdrawn.
  const isLong = world.duties.refund || world.habits.has('sweeps') || credit !== null;
  await until(start_ms + (isLong ? refundsWithin_ms : faultsWithin_ms), isOver);
  world.calmDown();
  const isAtRest = () =>
    isOver() &&
    todos.every((table) => stores.postgres.view.rows(table).length === 0) &&
    stores.postgres.view.rows('transfers').every(({ kind, step }) => kind !== 'relay' || step === 'done') &&
    unseenPayins(chains, watched.payments).length === 0 &&
    hasRead(world);
  await until(agenda.now_ms() + endsWithin_ms, isAtRest);
  checkPayins(chains, watched.payments);
  if (!isAtRest()) throw new Violation('ends', `open: ${openDuties().join(', ')}; ${unended(world)}`);

  checkPayouts(customers.orders, watched.payments);
  checkRefunds(chains, operators.refundRequests, watched.payments);
  checkMoney(chains, watched);
  if (!world.isLogRestored) checkTreasury(chains, watched);
  checkMoves(chains, watched);
  if (world.habits.has('signer')) checkSigner(stores.signerLog.all(), watched);
  if (credit && settled) checkCredit({ credit, watched, events: stores.log.all(), chains, wallet: settled });
  if (signers) checkRelays(signers.signed, stores.log.all(), chains);
  await checkRebuild(stores.log, stores.postgres);
}

/** Lists of work owed to merchants and buyers. */
const todos = ['todo_webhooks', 'todo_credits', 'todo_cashback', 'todo_withdrawals'];

/** The merchant's own wallet. */
function walletOf(random: Random, chains: readonly SimulatedChain[]) {
  const chain = random.pick(chains as [SimulatedChain]);
  return { chain, receiver: chain.receiver() };
}

/** True if the read models contain the whole log. */
const hasRead = ({ run: { stores } }: World): boolean =>
  stores.postgres.view.rows('ops.projections').every(({ position }) => position === stores.log.tail());

function unended({ run, watched }: World): string {
  const open = [...watched.payments].map(
    ([id, state]) => `${id} ${state?.closed ? state.closed.kind : ''} ${state?.payout ? 'payout' : ''}`,
  );
  const sets = run.stores.postgres.view
    .rows('ops.projections')
    .map((row) => `${row['set_name']} ${row['position']} ${row['stopped'] ?? ''}`);
  return `payments have not come to their end: ${open.join(', ')}; ${sets.join(', ')}; log ${run.stores.log.tail()}`;
}
