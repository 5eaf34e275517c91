/** Checks after a trial: API, chains and auditor, each queried separately. Each check returns a sentence for each problem. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { balancesAt } from '../balances.ts';
import { type Ended, type Placed, tokenOf, unitsOf } from './customers.ts';
import { arePaidOut } from './orders.ts';
import type { TrialWorld } from './world.ts';

/** In smallest units, by chain and token. */
export type Sums = ReadonlyMap<string, bigint>;

/** Balances of customers, and of treasury and deposits. */
export interface Stock {
  readonly customers: Sums;
  readonly ours: Sums;
}

/** Money that has arrived and left between two stocks. */
export interface Flows {
  readonly received: Sums;
  /** Payouts, refunds and withdrawals. */
  readonly left: Sums;
  /** Refunds to customers: a part of `left`. */
  readonly refunded: Sums;
}

type TokenAddress = { readonly address: string };

const keyOf = (chainId: ChainId, { address }: TokenAddress): string => `${chainId} ${address}`;

export function addTo(sums: Map<string, bigint>, chainId: ChainId, token: TokenAddress, amount: bigint): void {
  const key = keyOf(chainId, token);
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

const assetsOf = ({ chainIds }: TrialWorld) =>
  chainIds.flatMap((chainId) => chainOf(chainId).tokens.map((token) => ({ chainId, token })));

/** @param deposits payments whose deposit addresses count as ours; Stellar's are the treasury itself */
export async function takeStock(world: TrialWorld, deposits: readonly Placed[]): Promise<Stock> {
  const balanceOf = balancesAt(world.rpcUrl);
  const [customers, ours] = [new Map<string, bigint>(), new Map<string, bigint>()];
  await Promise.all(
    assetsOf(world).map(async ({ chainId, token }) => {
      const add = async (sums: Map<string, bigint>, accounts: ReadonlySet<string>) => {
        for (const account of accounts) addTo(sums, chainId, token, await balanceOf(chainId, token, account));
      };
      const own = deposits.filter(({ order }) => order.from === chainId && chainId !== 1500);
      await add(customers, new Set(world.payers(chainId).map(({ address }) => address)));
      await add(ours, new Set([world.treasury(chainId), ...own.map(({ payment }) => payment.source.receiverAddress)]));
    }),
  );
  return { customers, ours };
}

/** Customers' spending equals the receipts; our increase equals the receipts less the outgoing amounts. */
export function checkSums(
  world: TrialWorld,
  { received, left, refunded }: Flows,
  before: Stock,
  after: Stock,
): readonly string[] {
  return assetsOf(world).flatMap(({ chainId, token }) => {
    const of = (sums: Sums) => sums.get(keyOf(chainId, token)) ?? 0n;
    const spent = of(before.customers) - of(after.customers) + of(refunded);
    const kept = of(after.ours) - of(before.ours);
    const name = `${token.symbol} on ${chainOf(chainId).name}`;
    return [
      ...(spent === of(received) ? [] : [`${name}: customers paid ${spent} units, ${of(received)} are recorded`]),
      ...(kept === of(received) - of(left)
        ? []
        : [`${name}: we hold ${kept} units more, received ${of(received)} and sent ${of(left)}`]),
    ];
  });
}

/** Each payment is the acknowledged one, has the end that its habit implies, and paid its receiver once. */
export async function checkPayments(world: TrialWorld, ended: readonly Ended[]): Promise<readonly string[]> {
  const found = await Promise.all(ended.map((each) => checkPayout(world, each)));
  return [...ended.flatMap((each) => [...checkTerms(each), ...checkEnd(each)]), ...found.flat()];
}

const nameOf = ({ order, payment }: Placed): string =>
  `${order.orderId} (${payment.id}, ${order.habit}, ${order.from} → ${order.to})`;

export const isPaidOut = ({ status }: Ended['end']): boolean =>
  status === 'payment_payout_completed' || status === 'payment_completed';

function checkTerms(each: Ended): readonly string[] {
  const [first, now] = [each.payment, each.end];
  const isSame =
    now.id === first.id &&
    now.source.receiverAddress === first.source.receiverAddress &&
    now.source.amount === first.source.amount;
  return isSame ? [] : [`${nameOf(each)} is not the acknowledged payment any more`];
}

function checkEnd(each: Ended): readonly string[] {
  const { status, errorCode } = each.end;
  if (!terminalStatuses.includes(status)) return [`${nameOf(each)} has no end: it is ${status}`];
  return isPaidOut(each.end) === arePaidOut.has(each.order.habit)
    ? []
    : [`${nameOf(each)} has ended as ${status} (${errorCode})`];
}

/** Each payment has a separate receiver: its balance is the payment's payout. */
async function checkPayout(world: TrialWorld, each: Ended): Promise<readonly string[]> {
  const { to, amount, receiver } = each.order;
  const due = isPaidOut(each.end) ? unitsOf(amount, tokenOf(to, 'USDC')) : 0n;
  const wrong = await checkBalance(world, { chainId: to, receiver, amount: due });
  return wrong.map((text) => `${nameOf(each)}: ${text}`);
}

/** An account that receives one amount of USDC, and nothing else. */
export interface Expected {
  readonly chainId: ChainId;
  readonly receiver: string;
  readonly amount: bigint;
}

export async function checkBalance(
  { rpcUrl }: TrialWorld,
  { chainId, receiver, amount }: Expected,
): Promise<readonly string[]> {
  const got = await balancesAt(rpcUrl)(chainId, tokenOf(chainId, 'USDC'), receiver);
  return got === amount ? [] : [`${receiver} on chain ${chainId} has ${got} of ${amount} units`];
}

export interface Audited {
  readonly printed: string;
  readonly findings: readonly string[];
}

const printedMax = 12_000;
const bar = /\[[█░]+\]/;

/** Runs the auditor's verifier: it starts from the chains, and does not know the trial. */
export async function auditOf({ tool }: TrialWorld): Promise<Audited> {
  try {
    return { printed: withoutBars(await tool('audit')), findings: [] };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    const printed = withoutBars(`${stdout}\n${stderr}`) || String(error);
    return { printed, findings: [`npm run audit: ${printed}`] };
  }
}

/** Without progress bars. */
const withoutBars = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !bar.test(line))
    .join('\n')
    .slice(0, printedMax);
