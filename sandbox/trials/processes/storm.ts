/** One run: payers pay during faults, time passes, money is refunded; then it is quiet, and everything is counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, http } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { randomOf } from '../../random.ts';
import { advanceSlots } from '../../solana/controls.ts';
import { type Audited, auditOf, checkBalance, checkPayments, checkSums, takeStock } from '../check.ts';
import { type Customers, createCustomers, type Placed } from '../customers.ts';
import { arePaidOut, orderOf } from '../orders.ts';
import { messageOf, type Payment, retry } from '../world.ts';
import { type FaultName, runPlan } from './faults.ts';
import { checkHashes, checkPosts, deliveriesIn, flowsOf, readLog, readPosts } from './log.ts';
import type { Outcome } from './report.ts';
import type { ProcessWorld } from './world.ts';

export interface StormOptions {
  readonly payments: number;
  readonly seed: string;
  readonly minutes: number;
  readonly signal: AbortSignal;
}

export interface Progress {
  readonly value?: number;
  readonly what?: string;
  readonly faults?: number;
  readonly fault?: string;
}

const lifetime_ms = 2 * 60 * 60_000;
const poll_ms = 2_000;
const stormMost_ms = 90_000;
const quietMost_ms = 12 * 60_000;
/** The treasury's books open two minutes after a start of the service. */
const booksMost_ms = 5 * 60_000;
const booksPause_ms = 20_000;
/** Longer than a whole run. */
const quietTime_s = 3_600;
const payTries = 4;
const refundsMax = 8;
const toolTries = 6;
const timeTries = 150;
const withdrawal = {
  chainId: 8453,
  amount: 12_000_000n,
  text: '12',
  receiver: '0x00000000000000000000000000000000c4a05000',
} as const;

export async function storm(
  world: ProcessWorld,
  { seed, payments, minutes, signal }: StormOptions,
  show: (progress: Progress) => void,
): Promise<Outcome> {
  const customers = createCustomers(world, { signal, payTries });
  const { placed, poll, untilEnded, failures } = customers;
  const before = await takeStock(world, []);
  const since_ms = performance.now();
  const counts = { faults: 0, served: 0 };
  const plan = runPlan(world, randomOf(`${seed} faults`), (fault: FaultName) =>
    show({ faults: ++counts.faults, fault }),
  );
  const orders = randomOf(`${seed} orders`);
  let refunded: readonly Placed[] = [];
  let unoperated: readonly string[] = [];
  try {
    await customers.arrive((number) => orderOf(orders, number, world.chainIds), {
      ...{ count: payments, every_ms: (minutes * 60_000) / payments, until: signal },
      onServed: () => show({ value: ++counts.served }),
    });
    await untilEnded(
      placed.filter(({ order }) => arePaidOut.has(order.habit)),
      stormMost_ms,
    );
    show({ what: 'later' });
    await passTime(world);
    await customers.payLate();
    await untilEnded(placed, stormMost_ms);
    refunded = await refund(world, customers);
    unoperated = await operate(world);
  } finally {
    await plan.stop();
  }
  const storm_ms = performance.now() - since_ms;
  show({ what: 'quiet', fault: '' });
  // The local Solana's clock pauses until the wall clock has caught up: late payments expire only after a later block.
  await advanceSlots(world.rpcUrl(501), 1, quietTime_s);
  const ended = await untilEnded(placed, quietMost_ms);
  await poll(refunded, areRefunded, quietMost_ms);
  await untilPosted(world, signal);
  const log = await readLog(world);
  const audit = await auditWithBooks(world, signal);
  return {
    ...{ seed, ended, faults: plan.counts, notDone: plan.failures },
    disks: Object.values(world.disks).every((disk) => disk !== null),
    starts: { service: world.service.starts(), eventStore: world.eventStore.starts() },
    posts: readPosts(world).length,
    deliveries: deliveriesIn(log),
    refunds: refunded.length,
    minutes: { storm: storm_ms / 60_000, quiet: (performance.now() - since_ms - storm_ms) / 60_000 },
    findings: [
      ...failures,
      ...unoperated,
      ...(await checkPayments(world, ended)),
      ...(await checkBalance(world, withdrawal)),
      ...checkPosts(readPosts(world)),
      ...checkHashes(log),
      ...checkSums(world, flowsOf(log), before, await takeStock(world, placed)),
      ...audit.findings,
    ],
    audit: audit.printed,
  };
}

/** Audits again while books are closed, because frequent restarts delay them and the audit compares no balance without them. */
async function auditWithBooks(world: ProcessWorld, signal: AbortSignal): Promise<Audited> {
  for (const until_ms = performance.now() + booksMost_ms; ; await sleep(booksPause_ms)) {
    signal.throwIfAborted();
    const audit = await auditOf(world);
    if (!/books are not open/.test(audit.printed) || performance.now() > until_ms) return audit;
  }
}

/** On the EVM chains and Solana; the service is down meanwhile. */
async function passTime(world: ProcessWorld): Promise<void> {
  await world.passTime(lifetime_ms);
  for (const id of world.chainIds) {
    const { family } = chainOf(id);
    if (family === 'solana') await retry(() => advanceSlots(world.rpcUrl(id), 1, lifetime_ms / 1_000), timeTries);
    if (family !== 'evm') continue;
    const client = createPublicClient({ transport: http(world.rpcUrl(id)) });
    const ask = (method: string, params: readonly unknown[]) => client.request({ method, params } as never);
    await ask('evm_increaseTime', [lifetime_ms / 1_000]);
    await retry(() => ask('evm_mine', []), timeTries);
  }
}

/** Refunds some held money to its payers. @returns the payments with a refund */
async function refund(world: ProcessWorld, { placed, read }: Customers): Promise<readonly Placed[]> {
  const ordered: Placed[] = [];
  for (const each of placed) {
    const { order, payment } = each;
    if (!['over', 'under', 'otherToken', 'late'].includes(order.habit) || ordered.length === refundsMax) continue;
    const { status } = await read(payment.id);
    const isOver = order.habit === 'over' && status === 'payment_payout_completed';
    if (!isOver && status !== 'payment_bounced') continue;
    const to = ['--to', world.payers(order.from)[0]?.address ?? ''];
    const command = ['order', payment.id, isOver ? '--excess' : '--all', ...to, '--reason', 'trial', '--key', 'trial'];
    const done = await retry(() => world.tool('refunds', ...command), toolTries).catch(() => undefined);
    if (done !== undefined) ordered.push(each);
  }
  return ordered;
}

const areRefunded = ({ refunds = [] }: Payment): boolean => refunds.every(({ status }) => status === 'completed');

/** A withdrawal and sweeps. @returns a sentence for each command that failed */
async function operate({ tool }: ProcessWorld): Promise<readonly string[]> {
  const { chainId, text, receiver } = withdrawal;
  const failed: string[] = [];
  const book = ['addresses', 'add', String(chainId), receiver, '--label', 'trial'];
  for (const command of [book, ['withdraw', String(chainId), 'USDC', text, '--to', receiver]])
    await retry(() => tool('treasury', ...command), toolTries).catch((error: unknown) =>
      failed.push(`treasury ${command.join(' ')}: ${messageOf(error)}`),
    );
  await retry(() => tool('sweep', 'run', 'all', '--even-at-a-loss'), 2).catch(() => {});
  return failed;
}

/** Waits until no webhook has arrived for a while. */
async function untilPosted(world: ProcessWorld, signal: AbortSignal): Promise<void> {
  for (let [posts, unchanged] = [-1, 0]; unchanged < 5; await sleep(poll_ms)) {
    signal.throwIfAborted();
    const now = readPosts(world).length;
    unchanged = now === posts ? unchanged + 1 : 0;
    posts = now;
  }
}
