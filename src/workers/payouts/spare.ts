/** What the treasury can give away of an asset: what it holds on a chain, less what it owes there. */

import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { coinAddress } from '../../../domain/coins.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';

/** What payouts and other operations take on a chain, in smallest units. */
export interface Owed {
  /** By a token's contract. */
  readonly tokens: ReadonlyMap<string, bigint>;
  /** Of the chain's coin, as such. */
  readonly coin: bigint;
  /** So many payouts and refunds cost their fee besides. */
  readonly payouts: number;
}

/** @param but an operation that is not counted. @throws Unavailable */
export type OwedOn = (chainId: ChainId, but?: string) => Promise<Owed>;

export interface SpareDeps {
  readonly rail: Pick<PayoutRail, 'chainId' | 'balances' | 'transferCost'>;
  readonly owedOn: OwedOn;
}

export interface Wanted {
  readonly token: AssetRef;
  readonly amount: bigint;
  /** The operation that wants it, where it is counted among what is owed already. */
  readonly operationId?: string;
}

/** @returns why it would take what payouts, or other operations, are owed; undefined when it would not. @throws Unavailable */
export async function takesWhatIsOwed(
  { rail, owedOn }: SpareDeps,
  { token, amount, operationId }: Wanted,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const isCoin = token.address === coinAddress;
  const [{ gas, tokens }, owed, cost] = await Promise.all([
    rail.balances(signal),
    owedOn(rail.chainId, operationId),
    isCoin ? rail.transferCost(signal) : 0n,
  ]);
  const held = isCoin ? gas : (tokens[token.address] ?? 0n);
  // Its own fee counts beside those of the payouts.
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
