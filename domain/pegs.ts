/** Value of tokens. Every payment counts one whole token as one US dollar, so a token of another currency needs a price first. */
import { type Chain, pegs } from './chain.ts';

/** An amount would be converted without a price. */
export class PriceMissing extends Error {
  override readonly name = 'PriceMissing';
}

/** @throws PriceMissing */
export function assertDollar(symbol: string): void {
  const why = problemOf(symbol);
  if (why) throw new PriceMissing(`${symbol} ${why}: only tokens pegged to the US dollar (usd) can be converted`);
}

type Listed = Pick<Chain, 'name'> & { readonly tokens: readonly { readonly symbol: string }[] };

/** Refuses a catalogue with a token that is not a US dollar. Runs at start, before anything is read or signed. @throws PriceMissing */
export function assertDollarTokens(chains: readonly Listed[]): void {
  for (const { name, tokens } of chains)
    for (const { symbol } of tokens) {
      const why = problemOf(symbol);
      if (why)
        throw new PriceMissing(
          `${symbol} on ${name} ${why}, and payments count each token as one US dollar: remove it from the catalogue`,
        );
    }
}

const stated: ReadonlyMap<string, string> = new Map(Object.entries(pegs));

/** Returns the reason why the symbol has no dollar peg; undefined if it has one. `USD` counts dollars themselves. */
function problemOf(symbol: string): string | undefined {
  if (symbol === 'USD') return undefined;
  const peg = stated.get(symbol);
  if (peg === 'usd') return undefined;
  return peg === undefined ? 'has no peg' : `is pegged to ${peg}`;
}
