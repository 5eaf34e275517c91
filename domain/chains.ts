/**
 * The catalogue of chains and tokens, by contract and never by symbol. Default: the main networks. Node's option
 * `--conditions=test-networks` selects the test networks (package.json, `imports`).
 */
import { networks } from '#networks';
import { type Chain, type ChainId, type DollarToken, pegs, type Token } from './chain.ts';

export * from './chain.ts';

// Pegs: every payment counts one whole token as one US dollar, so a token of another currency needs a price first.

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

// The catalogue.

/** Other spellings that requests may use. */
const aliases: Readonly<Record<string, ChainId>> = { '900': 501, solana: 501, stellar: 1500 };

assertDollarTokens(networks);
export const chains: readonly Chain[] = networks;

/** True if money on these chains is worth nothing. */
export const onTestNetworks: boolean = networks.some(({ network }) => network !== undefined);

/** @param id as a request spells it: number, digits or an alias */
export function findChain(id: string | number): Chain | undefined {
  const text = String(id);
  const known = aliases[text.toLowerCase()];
  return chains.find((chain) => chain.id === known || String(chain.id) === text);
}

export function chainOf(id: ChainId): Chain {
  const chain = chains.find((candidate) => candidate.id === id);
  if (!chain) throw new Error(`chain ${id} is not in the catalogue`);
  return chain;
}

export const findToken = (chain: Chain, symbol: string): DollarToken | undefined =>
  chain.tokens.find((token) => token.symbol === symbol);

/** All tokens that the treasury may hold on a chain: those of payments, then its own. */
export const heldTokens = ({ tokens, treasuryTokens = [] }: Chain): readonly DollarToken[] =>
  treasuryTokens.length === 0 ? tokens : [...tokens, ...treasuryTokens];

export const findHeldToken = (chain: Chain, symbol: string): DollarToken | undefined =>
  heldTokens(chain).find((token) => token.symbol === symbol);

/** Finds a token of the treasury by contract, also one without payments. EVM addresses match in any letter case. */
export const tokenAt = (chain: Chain, address: string): DollarToken | undefined =>
  heldTokens(chain).find((token) =>
    chain.family === 'evm' ? token.address.toLowerCase() === address.toLowerCase() : token.address === address,
  );

/** True if the catalogue has exactly this token of the chain, so amounts have its decimals. */
export const isListed = ({ chainId, token }: ListedToken): boolean =>
  findChain(chainId)?.tokens.some(
    ({ address, decimals }) => address === token.address && decimals === token.decimals,
  ) ?? false;

interface ListedToken {
  readonly chainId: ChainId;
  readonly token: Pick<Token, 'address' | 'decimals'>;
}

/** True if a caller's text names the token: in any letter case, and a Stellar asset (`USDC:G…`) also by its issuer alone. */
export function isAddressOf({ address }: Token, text: string): boolean {
  const [own, stated] = [address.toLowerCase(), text.toLowerCase()];
  return stated === own || own.endsWith(`:${stated}`);
}

/** Maximum length of a Stellar text memo in UTF-8. Every 64-bit id fits as well. */
export const stellarMemoMax_bytes = 28;

/**
 * Returns why a transfer to the receiver cannot carry the memo, and what to do; undefined if it can.
 *
 * @param receiver in the chain's canonical spelling
 */
export function memoProblem(chain: Chain, receiver: string, memo: string): string | undefined {
  if (chain.family === 'evm') return `${chain.name} transfers carry no memo: leave it out`;
  if (chain.family !== 'stellar') return undefined;
  if (receiver.startsWith('M')) return 'the M address holds the receiver’s id already: leave the memo out';
  if (receiver.startsWith('C')) return 'a transfer to a contract carries no memo: leave it out';
  const length_bytes = new TextEncoder().encode(memo).length;
  return length_bytes > stellarMemoMax_bytes
    ? `a Stellar memo has at most ${stellarMemoMax_bytes} bytes in UTF-8, this one has ${length_bytes}: shorten it`
    : undefined;
}
