/**
 * Amounts of transfers that are signed and not settled, for a treasury without nonces. The read models know them a moment late, so transfers
 * that this process signed in the last 10 minutes are counted from memory.
 */
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { coinAddress, formatAmount } from '../../../domain/money.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';

export interface UnsettledAmounts {
  /** Returns the sum in smallest units. @param but reference of a transfer that is not counted */
  of(token: AssetRef, but: string): Promise<bigint>;
  signed(reference: string, token: AssetRef, amount: bigint): void;
  /** Forgets a transfer that is settled or dead. */
  ended(reference: string): void;
}

/** Longer than the read models lag while their to-do lists name transfers to sign. */
const remembered_ms = 10 * minute_ms;

/** @param recorded sum of the read models' transfers without those named in `but` */
export function createUnsettledAmounts(
  recorded: (token: AssetRef, but: readonly string[]) => Promise<bigint>,
  clock: Pick<Clock, 'now'>,
): UnsettledAmounts {
  const lately = new Map<string, { readonly token: string; readonly amount: bigint; readonly at_ms: number }>();

  return {
    async of(token, but) {
      const oldest_ms = epochMs(clock.now()) - remembered_ms;
      for (const [reference, { at_ms }] of lately) if (at_ms < oldest_ms) lately.delete(reference);
      let sum = await recorded(token, [but, ...lately.keys()]);
      for (const [reference, each] of lately) if (reference !== but && each.token === token.address) sum += each.amount;
      return sum;
    },
    signed: (reference, { address }, amount) =>
      void lately.set(reference, { token: address, amount, at_ms: epochMs(clock.now()) }),
    ended: (reference) => void lately.delete(reference),
  };
}

// Withdrawable balance of an asset: the treasury's balance on a chain, less the owed amounts there.

/** Amounts that payouts and other operations need on a chain, in smallest units. */
export interface OwedAmounts {
  /** By token contract. */
  readonly tokens: ReadonlyMap<string, bigint>;
  /** Amount of the chain's coin itself. */
  readonly coin: bigint;
  /** Number of payouts and refunds, whose fees are additional. */
  readonly payouts: number;
}

/** @param but operation, or reference of a burn, to exclude. @throws Unavailable */
export type OwedOn = (chainId: ChainId, but?: string) => Promise<OwedAmounts>;

export interface SpareDeps {
  readonly rail: Pick<PayoutRail, 'chainId' | 'balances' | 'transferCost'>;
  readonly owedOn: OwedOn;
}

export interface WithdrawalRequest {
  readonly token: AssetRef;
  readonly amount: bigint;
  /** The operation itself, if the owed amounts include it. */
  readonly operationId?: string;
}

/** @returns why it would use money that payouts, or other operations, are owed; undefined if it would not. @throws Unavailable */
export async function takesWhatIsOwed(
  { rail, owedOn }: SpareDeps,
  { token, amount, operationId }: WithdrawalRequest,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const isCoin = token.address === coinAddress;
  const [{ gas, tokens }, owed, cost] = await Promise.all([
    rail.balances(signal),
    owedOn(rail.chainId, operationId),
    isCoin ? rail.transferCost(signal) : 0n,
  ]);
  const held = isCoin ? gas : (tokens[token.address] ?? 0n);
  // Its own fee counts in addition to those of the payouts.
  const needed = isCoin ? owed.coin + cost * BigInt(owed.payouts + 1) : (owed.tokens.get(token.address) ?? 0n);
  if (held - needed >= amount) return undefined;
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  const spare = held > needed ? held - needed : 0n;
  return refuse(
    'illegalStep',
    `the treasury holds ${text(held)} on ${chainOf(rail.chainId).name} and owes ${text(needed)} of it to ${owing(isCoin)}: at most ${text(spare)} can go`,
  );
}

const owing = (isCoin: boolean): string =>
  isCoin ? 'fees of payouts and to withdrawals' : 'payouts, refunds and withdrawals';
