/** Payments of a run: routes over all chains, and payers who pay exactly, in parts, too much, too little, late, or with another token. */
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { type ChainId, chainOf, chains } from '../../domain/chains.ts';
import type { Dice } from './dice.ts';

/** `never`: nobody pays. `late`: after the payment's time. */
export const habits = ['exact', 'inParts', 'over', 'under', 'otherToken', 'late', 'never'] as const;
export type Habit = (typeof habits)[number];

export interface Order {
  readonly orderId: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  readonly habit: Habit;
  /** An account that receives nothing else: its balance is this payment's payout. */
  readonly receiver: string;
}

const weights: Readonly<Record<Habit, number>> = {
  exact: 66,
  inParts: 8,
  over: 9,
  under: 6,
  otherToken: 4,
  late: 4,
  never: 3,
};

/** Time does not pass on Stellar: only payments that end automatically use it. */
const endsByItself: readonly Habit[] = ['exact', 'inParts', 'over'];

export function ordersOf(dice: Dice, count: number): readonly Order[] {
  return Array.from({ length: count }, (_, at) => {
    const from = dice.oneOf(chains).id;
    const to = dice.oneOf(chains).id;
    const chosen = dice.weighted(weights);
    const hasOther = chainOf(from).tokens.length > 1;
    const possible = chosen === 'otherToken' && !hasOther ? 'exact' : chosen;
    const habit = from === 1500 && !endsByItself.includes(possible) ? 'exact' : possible;
    const cents = dice.between(150, 900);
    const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
    return { orderId: `chaos-${at + 1}`, from, to, amount, habit, receiver: receiverOn(to, at) };
  });
}

function receiverOn(chainId: ChainId, number: number): string {
  if (chainId === 1500) return Keypair.random().publicKey();
  if (chainId === 501) return SolanaKeypair.generate().publicKey.toBase58();
  return getAddress(`0x${(0xc4a0_0000 + number).toString(16).padStart(40, '0')}`);
}
