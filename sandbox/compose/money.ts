/** Balances of accounts, from the local chains, and their sums. */
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf, findToken, type Token } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { balancesAt } from '../balances.ts';
import type { PublicPayment } from '../customer.ts';
import { type Chains, chainIds } from './chains.ts';
import type { Keys } from './settings.ts';

/** A payment, as far as money goes. */
export interface Bought {
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  readonly payment: Pick<PublicPayment, 'source'>;
  readonly paid: boolean;
}

/** Balances of customers, and of treasury and deposits, by chain. */
export interface Stock {
  readonly customers: ReadonlyMap<ChainId, bigint>;
  readonly ours: ReadonlyMap<ChainId, bigint>;
}

export async function stockOf(
  { chains, payers, treasury }: Keys & { readonly chains: Chains },
  placed: readonly Bought[],
): Promise<Stock> {
  const of = async (chainId: ChainId, accounts: readonly string[]) => {
    const held = await Promise.all(accounts.map((account) => balance(chains, chainId, account)));
    return [chainId, held.reduce((sum, each) => sum + each, 0n)] as const;
  };
  const deposits = (chainId: ChainId) => [
    ...new Set(placed.filter(({ from }) => from === chainId).map(({ payment }) => payment.source.receiverAddress)),
  ];
  return {
    customers: new Map(
      await Promise.all(
        chainIds.map((id) =>
          of(
            id,
            payers.map((key) => privateKeyToAddress(key)),
          ),
        ),
      ),
    ),
    ours: new Map(await Promise.all(chainIds.map((id) => of(id, [privateKeyToAddress(treasury), ...deposits(id)])))),
  };
}

/** Customers' spending equals the payments' amounts; our increase equals that, less the payouts. */
export function sums(placed: readonly Bought[], before: Stock, after: Stock): readonly string[] {
  return chainIds.flatMap((chainId) => {
    const total = (all: readonly Bought[], text: (each: Bought) => string | null) =>
      all.reduce((sum, each) => sum + units(text(each) ?? '', chainId), 0n);
    const came = total(
      placed.filter(({ from, paid }) => from === chainId && paid),
      ({ payment }) => payment.source.amount,
    );
    const left = total(
      placed.filter(({ to, paid }) => to === chainId && paid),
      ({ amount }) => amount,
    );
    const spent = (before.customers.get(chainId) ?? 0n) - (after.customers.get(chainId) ?? 0n);
    const kept = (after.ours.get(chainId) ?? 0n) - (before.ours.get(chainId) ?? 0n);
    const { name } = chainOf(chainId);
    return [
      ...(spent === came ? [] : [`on ${name} customers paid ${spent} units, their payments asked for ${came}`]),
      ...(kept === came - left ? [] : [`on ${name} we hold ${kept} units more, where ${came} came and ${left} left`]),
    ];
  });
}

export function usdcOn(chainId: ChainId): Token {
  const token = findToken(chainOf(chainId), 'USDC');
  if (!token) throw new Error(`chain ${chainId} has no USDC`);
  return token;
}

export function units(text: string, chainId: ChainId): bigint {
  const amount = parseAmount(text, usdcOn(chainId).decimals);
  if (typeof amount === 'string') throw new Error(`${text} is no amount: ${amount}`);
  return amount;
}

export const balance = (chains: Chains, chainId: ChainId, account: string): Promise<bigint> =>
  balancesAt(chains.localUrl)(chainId, usdcOn(chainId), account);
