/** One run: payers pay during faults, time passes, money is refunded; then it is quiet, and everything is counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@stellar/stellar-sdk';
import { createPublicClient, http } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf, chains } from '../../domain/chains.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { balancesAt } from '../balances.ts';
import { advanceSlots } from '../solana/controls.ts';
import { keypairOf } from '../solana/wallet.ts';
import { auditOf } from './audit.ts';
import { checkAll, deliveriesIn, type Ended, postsOf, takeStock, type Withdrawn, wholeLog } from './check.ts';
import { type Customers, createCustomers, customerOn, type Placed, patiently } from './customers.ts';
import { createDice, type Dice } from './dice.ts';
import type { FaultName } from './faults.ts';
import { type Order, ordersOf } from './orders.ts';
import { runPlan } from './plan.ts';
import type { Outcome } from './report.ts';
import type { ChaosWorld } from './world.ts';

export interface StormOptions {
  readonly payments: number;
  readonly seed: string;
  readonly minutes: number;
  readonly signal: AbortSignal;
}

export interface Shown {
  readonly value?: number;
  readonly what?: string;
  readonly faults?: number;
  readonly fault?: string;
}

const lifetime_ms = 2 * 60 * 60_000;
const look_ms = 2_000;
const stormMost_ms = 90_000;
const quietMost_ms = 12 * 60_000;
/** Longer than a whole run. */
const quietTime_s = 3_600;
const refundsMax = 8;
const toolTries = 6;
const withdrawal = {
  chainId: 8453,
  amount: '12',
  units: 12_000_000n,
  receiver: '0x00000000000000000000000000000000c4a05000',
} as const;

export async function storm(chaos: ChaosWorld, options: StormOptions, show: (shown: Shown) => void): Promise<Outcome> {
  const { seed, signal } = options;
  const customers = createCustomers(chaos);
  const balanceOf = balancesAt(chaos.rpcUrl);
  const stock = (placed: readonly Placed[]) => takeStock(chaos, balanceOf, treasuriesOf(chaos), placed);
  const before = await stock([]);
  const began_ms = performance.now();
  let faults = 0;
  const plan = runPlan(chaos, createDice(`${seed} faults`), (fault: FaultName) => show({ faults: ++faults, fault }));
  const placed: Placed[] = [];
  const unpaid: string[] = [];
  let refunded: readonly Placed[] = [];
  try {
    await letThemCome(customers, createDice(`${seed} orders`), options, { placed, unpaid }, show);
    await untilEnded(customers, payable(placed), stormMost_ms, signal);
    show({ what: 'later' });
    await passTime(chaos);
    await payLate(customers, placed, unpaid);
    await untilEnded(customers, placed, stormMost_ms, signal);
    refunded = await sendBack(chaos, customers, placed);
    await operate(chaos, unpaid);
  } finally {
    await plan.stop();
  }
  const storm_ms = performance.now() - began_ms;
  show({ what: 'quiet', fault: '' });
  // The local Solana's clock pauses until the wall clock has caught up: late payments expire only after a later block.
  await advanceSlots(chaos.rpcUrl(501), 1, quietTime_s);
  const ended = await untilEnded(customers, placed, quietMost_ms, signal);
  await untilRefunded(customers, refunded, quietMost_ms, signal);
  await untilTold(chaos, signal);
  const withdrawn: Withdrawn[] = [
    { chainId: withdrawal.chainId, receiver: withdrawal.receiver, amount: withdrawal.units },
  ];
  const log = await wholeLog(chaos);
  const findings = await checkAll(chaos, balanceOf, log, { ended, before, after: await stock(placed), withdrawn });
  const audit = await auditOf(chaos);
  return {
    seed,
    ended,
    faults: plan.counts,
    notDone: plan.failures,
    disks: Object.values(chaos.disks).every((disk) => disk !== null),
    starts: { service: chaos.service.starts(), eventStore: chaos.eventStore.starts() },
    posts: postsOf(chaos).length,
    deliveries: deliveriesIn(log),
    refunds: refunded.length,
    minutes: { storm: storm_ms / 60_000, quiet: (performance.now() - began_ms - storm_ms) / 60_000 },
    findings: [...unpaid, ...findings, ...audit.findings],
    audit: audit.said,
  };
}

interface Made {
  readonly placed: Placed[];
  /** Failures of payers or operators. */
  readonly unpaid: string[];
}

/** Distributes orders evenly over the minutes; creates and pays each concurrently. */
async function letThemCome(
  { create, pay }: Customers,
  dice: Dice,
  { payments, minutes, signal }: StormOptions,
  { placed, unpaid }: Made,
  show: (shown: Shown) => void,
): Promise<void> {
  let done = 0;
  const serve = async (order: Order): Promise<void> => {
    try {
      const own = await create(order);
      placed.push(own);
      if (order.habit !== 'late') await pay(own);
    } catch (error) {
      unpaid.push(`${order.orderId}: ${error instanceof Error ? error.message : String(error)}`);
    }
    show({ value: ++done });
  };
  const serving: Promise<void>[] = [];
  for (const order of ordersOf(dice, payments)) {
    signal.throwIfAborted();
    serving.push(serve(order));
    await sleep((minutes * 60_000) / payments);
  }
  await Promise.all(serving);
}

const payable = (placed: readonly Placed[]): readonly Placed[] =>
  placed.filter(({ order }) => ['exact', 'inParts', 'over'].includes(order.habit));

/** Polls unfinished payments. At the timeout it returns unfinished ones in their present state. */
async function untilEnded(
  { read }: Customers,
  placed: readonly Placed[],
  most_ms: number,
  signal: AbortSignal,
): Promise<readonly Ended[]> {
  const ended = new Map<string, Ended>();
  for (const until_ms = performance.now() + most_ms; ; await sleep(look_ms)) {
    signal.throwIfAborted();
    for (const each of placed) {
      const known = ended.get(each.payment.id)?.end;
      if (known && terminalStatuses.includes(known.status) && !mayMove(each, known.status)) continue;
      ended.set(each.payment.id, { ...each, end: await read(each.payment.id) });
    }
    const all = [...ended.values()];
    const open = all.some((each) => !terminalStatuses.includes(each.end.status) || mayMove(each, each.end.status));
    if (!open || performance.now() > until_ms) return all;
  }
}

/** A late payment stays expired until its money is detected. */
const mayMove = ({ order }: Placed, status: string): boolean => order.habit === 'late' && status === 'payment_expired';

/** On the EVM chains and Solana; the service was down meanwhile. */
async function passTime(chaos: ChaosWorld): Promise<void> {
  await chaos.passTime(lifetime_ms);
  for (const { id, family } of chains) {
    if (family === 'solana') await patiently(() => advanceSlots(chaos.rpcUrl(id), 1, lifetime_ms / 1_000));
    if (family !== 'evm') continue;
    const client = createPublicClient({ transport: http(chaos.rpcUrl(id)) });
    const ask = (method: string, params: readonly unknown[]) => client.request({ method, params } as never);
    await ask('evm_increaseTime', [lifetime_ms / 1_000]);
    await patiently(() => ask('evm_mine', []));
  }
}

async function payLate({ pay }: Customers, placed: readonly Placed[], unpaid: string[]): Promise<void> {
  const late = placed.filter(({ order }) => order.habit === 'late');
  await Promise.all(
    late.map((each) => pay(each).catch((error: Error) => unpaid.push(`${each.order.orderId}: ${error.message}`))),
  );
}

/** Refunds some held money to its payers. */
async function sendBack(chaos: ChaosWorld, { read }: Customers, placed: readonly Placed[]): Promise<readonly Placed[]> {
  const ordered: Placed[] = [];
  for (const each of placed) {
    const { order, payment } = each;
    if (!['over', 'under', 'otherToken', 'late'].includes(order.habit) || ordered.length === refundsMax) continue;
    const { status } = await read(payment.id);
    const isOver = order.habit === 'over' && status === 'payment_payout_completed';
    if (!isOver && status !== 'payment_bounced') continue;
    const to = ['--to', customerOn(chaos, order.from)];
    const command = ['order', payment.id, isOver ? '--excess' : '--all', ...to, '--reason', 'chaos', '--key', 'chaos'];
    const done = await patiently(() => chaos.tool('refunds', ...command), toolTries).catch(() => undefined);
    if (done !== undefined) ordered.push(each);
  }
  return ordered;
}

/** A withdrawal and sweeps. */
async function operate(chaos: ChaosWorld, unpaid: string[]): Promise<void> {
  const { chainId, amount, receiver } = withdrawal;
  const book = ['addresses', 'add', String(chainId), receiver, '--label', 'chaos'];
  const order = ['withdraw', String(chainId), 'USDC', amount, '--to', receiver];
  for (const command of [book, order])
    await patiently(() => chaos.tool('treasury', ...command), toolTries).catch((error: Error) =>
      unpaid.push(`treasury ${command.join(' ')}: ${error.message}`),
    );
  await patiently(() => chaos.tool('sweep', 'run', 'all', '--even-at-a-loss'), 2).catch(() => {});
}

async function untilRefunded(
  { read }: Customers,
  refunded: readonly Placed[],
  most_ms: number,
  signal: AbortSignal,
): Promise<void> {
  for (const until_ms = performance.now() + most_ms; performance.now() < until_ms; await sleep(look_ms)) {
    signal.throwIfAborted();
    const all = await Promise.all(refunded.map(({ payment }) => read(payment.id)));
    if (all.every(({ refunds = [] }) => refunds.every(({ status }) => status === 'completed'))) return;
  }
}

/** Waits until no webhook has arrived for a while. */
async function untilTold(chaos: ChaosWorld, signal: AbortSignal): Promise<void> {
  for (let [posts, still] = [-1, 0]; still < 5; await sleep(look_ms)) {
    signal.throwIfAborted();
    const now = postsOf(chaos).length;
    still = now === posts ? still + 1 : 0;
    posts = now;
  }
}

const treasuriesOf =
  ({ keys }: ChaosWorld) =>
  (chainId: ChainId): string => {
    const { family } = chainOf(chainId);
    if (family === 'evm') return privateKeyToAddress(keys.treasury);
    return family === 'stellar'
      ? Keypair.fromSecret(keys.stellar.treasury).publicKey()
      : keypairOf(keys.solana.treasury).publicKey.toBase58();
  };
