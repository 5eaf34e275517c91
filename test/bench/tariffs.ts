/** Price of calls per month. docs/operate/going-live.md, "Prices of nodes", has the prices with their sources and dates. */

export interface Tariff {
  readonly name: string;
  /** Dollars for a number of million calls per month, of one chain alone at the provider; null if the provider has no such price. */
  readonly price: (millions: number, chain: 'evm' | 'solana' | 'stellar') => number | null;
}

const perMillion_usd = { evm: 20, solana: 50, stellar: null } as const;
const flat_usd = { evm: 799, solana: 1_199, stellar: null } as const;

export const tariffs: readonly Tariff[] = [
  {
    name: 'Chainstack',
    price: (millions, chain) => (chain === 'stellar' ? null : 49 + 15 * Math.max(0, millions - 20)),
  },
  {
    name: 'Ankr',
    price: (millions, chain) => perMillion_usd[chain] && perMillion_usd[chain] * millions,
  },
  { name: 'QuickNode', price: (_, chain) => flat_usd[chain] },
];

const month_s = 30 * 24 * 3_600;

/** @returns whole dollars per month, by tariff */
export const monthly = (callsPerSecond: number, chain: Parameters<Tariff['price']>[1]): readonly (number | null)[] =>
  tariffs.map(({ price }) => {
    const usd = price((callsPerSecond * month_s) / 1_000_000, chain);
    return usd === null ? null : Math.round(usd);
  });
