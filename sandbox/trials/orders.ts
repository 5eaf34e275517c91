/** Payments of a trial: routes over its chains, and payers who pay exactly, in parts, too much, too little, late, or with another token. */
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { between, pickFrom, type Random, weighted } from '../random.ts';

/** `never`: the payer sends nothing. `late`: after the payment's time. */
export const habits = ['exact', 'inParts', 'over', 'under', 'otherToken', 'late', 'never'] as const;
export type Habit = (typeof habits)[number];

export interface Order {
  readonly number: number;
  readonly orderId: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  readonly habit: Habit;
  /** An account that receives nothing else: its balance is this payment's payout. */
  readonly receiver: string;
}

export type HabitWeights = Readonly<Partial<Record<Habit, number>>>;

export const allHabits: Readonly<Record<Habit, number>> = {
  exact: 66,
  inParts: 8,
  over: 9,
  under: 6,
  otherToken: 4,
  late: 4,
  never: 3,
};

/** A payment of these habits is paid out, without the passage of time. */
export const arePaidOut: ReadonlySet<Habit> = new Set<Habit>(['exact', 'inParts', 'over']);

/** @param number of the order: its id and its receiver are used once */
export function orderOf(
  random: Random,
  number: number,
  chainIds: readonly ChainId[],
  weights: HabitWeights = allHabits,
): Order {
  const [from, to] = [pickFrom(random, chainIds), pickFrom(random, chainIds)];
  const chosen = weighted(random, weights as Record<Habit, number>);
  const possible = chosen === 'otherToken' && chainOf(from).tokens.length === 1 ? 'exact' : chosen;
  // No time passes on Stellar.
  const habit = from === 1500 && !arePaidOut.has(possible) ? 'exact' : possible;
  const cents = between(random, 150, 900);
  const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return { number, orderId: `trial-${number}`, from, to, amount, habit, receiver: receiverOn(to, number) };
}

function receiverOn(chainId: ChainId, number: number): string {
  if (chainId === 1500) return Keypair.random().publicKey();
  if (chainId === 501) return SolanaKeypair.generate().publicKey.toBase58();
  return getAddress(`0x${(0xc4a0_0000_0000 + number).toString(16).padStart(40, '0')}`);
}
