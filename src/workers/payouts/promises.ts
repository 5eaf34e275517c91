/**
 * What open payments promise of a treasury's float before they are paid. Nobody has paid for a promise, and anybody can make one: so an
 * app's own promises count in full against what its key creates next, and those of all others up to a half of the float.
 */
import type { ChainId } from '../../../domain/chains.ts';
import type { Promised } from '../../../queries/payouts.ts';

/** Of the float, for what others promise. */
const othersShare = 2n;

/** Null: whoever has no key. */
export type Promisor = string | null;

type Sums = Map<string, Map<Promisor, bigint>>;

export interface Promises {
  /** Made just now; the read models do not show it yet. */
  add(route: string, by: Promisor, amount: bigint): void;
  /** As the read models have them now. */
  known(all: readonly Promised[]): void;
  /** What is not free for one more. @param float in smallest units */
  against(route: string, by: Promisor, float: bigint): bigint;
}

export const routeOf = (chainId: ChainId | number, tokenAddress: string): string => `${chainId}:${tokenAddress}`;

export function createPromises(): Promises {
  let recorded: Sums = new Map();
  // A promise counts until the read models were asked twice: what they did not show the first time, they do the second.
  let lately: Sums = new Map();
  let before: Sums = new Map();

  const of = (route: string, count: (by: Promisor) => boolean): bigint =>
    [recorded, lately, before]
      .flatMap((sums) => [...(sums.get(route) ?? [])])
      .reduce((sum, [by, amount]) => (count(by) ? sum + amount : sum), 0n);

  return {
    add: (route, by, amount) => put(lately, route, by, amount),
    known(all) {
      recorded = new Map();
      for (const { chainId, tokenAddress, appId, amount } of all)
        put(recorded, routeOf(chainId, tokenAddress), appId, amount);
      before = lately;
      lately = new Map();
    },
    against(route, by, float) {
      const own = by === null ? 0n : of(route, (each) => each === by);
      const others = of(route, (each) => by === null || each !== by);
      const most = float / othersShare;
      return own + (others < most ? others : most);
    },
  };
}

function put(sums: Sums, route: string, by: Promisor, amount: bigint): void {
  const own = sums.get(route) ?? new Map<Promisor, bigint>();
  own.set(by, (own.get(by) ?? 0n) + amount);
  sums.set(route, own);
}
