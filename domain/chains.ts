/** The catalogue: which chains and which tokens, by contract and never by symbol. Addresses: chain explorers and the issuers' pages. */
export const chainIds = [8453, 56, 1, 42161, 137, 501, 1500] as const;
export type ChainId = (typeof chainIds)[number];

export const tokenSymbols = ['USDC', 'USDT'] as const;
export type TokenSymbol = (typeof tokenSymbols)[number];

export type ChainFamily = 'evm' | 'solana' | 'stellar';

export interface Token {
  readonly symbol: TokenSymbol;
  /** Contract, mint or asset, in the chain's canonical spelling. */
  readonly address: string;
  readonly decimals: number;
}

export interface Chain {
  readonly id: ChainId;
  readonly name: string;
  readonly family: ChainFamily;
  /** Usual time between blocks. A network may change it on any day: nothing is final by this alone. */
  readonly block_ms: number;
  readonly tokens: readonly Token[];
}

const usdc = (address: string, decimals = 6): Token => ({ symbol: 'USDC', address, decimals });
const usdt = (address: string, decimals = 6): Token => ({ symbol: 'USDT', address, decimals });

const mainnet: readonly Chain[] = [
  {
    id: 8453,
    name: 'Base',
    family: 'evm',
    // Five blocks share each second of time.
    block_ms: 200,
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  {
    id: 56,
    name: 'BNB Chain',
    family: 'evm',
    block_ms: 450,
    // Binance-Peg tokens: 18 decimals, not the issuers' 6.
    tokens: [
      usdc('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18),
      usdt('0x55d398326f99059fF775485246999027B3197955', 18),
    ],
  },
  {
    id: 1,
    name: 'Ethereum',
    family: 'evm',
    block_ms: 12_000,
    tokens: [usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'), usdt('0xdAC17F958D2ee523a2206206994597C13D831ec7')],
  },
  {
    id: 42161,
    name: 'Arbitrum',
    family: 'evm',
    block_ms: 250,
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'), usdt('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9')],
  },
  {
    id: 137,
    name: 'Polygon',
    family: 'evm',
    block_ms: 2_000,
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'), usdt('0xc2132D05D31c914a87C6611C10748AEb04B58e8F')],
  },
  {
    id: 501,
    name: 'Solana',
    family: 'solana',
    block_ms: 400,
    tokens: [usdc('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')],
  },
  {
    id: 1500,
    name: 'Stellar',
    family: 'stellar',
    block_ms: 5_000,
    tokens: [usdc('USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN', 7)],
  },
];

/** Other spellings that requests may use. */
const aliases: Readonly<Record<string, ChainId>> = { '900': 501, solana: 501, stellar: 1500 };

export const chains: readonly Chain[] = mainnet;

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

export const findToken = (chain: Chain, symbol: string): Token | undefined =>
  chain.tokens.find((token) => token.symbol === symbol);

/** Finds a token by contract, whatever the address's letter case (EVM) is. */
export const tokenAt = (chain: Chain, address: string): Token | undefined =>
  chain.tokens.find((token) =>
    chain.family === 'evm' ? token.address.toLowerCase() === address.toLowerCase() : token.address === address,
  );

/** Whether a caller's text means the token: in any letter case, and an asset (`USDC:G…`) by its issuer alone, too. */
export function isAddressOf({ address }: Token, text: string): boolean {
  const [own, stated] = [address.toLowerCase(), text.toLowerCase()];
  return stated === own || own.endsWith(`:${stated}`);
}

/** A Stellar memo of text: bytes in UTF-8. Every id (a number of 64 bits) fits as well. */
export const stellarMemoMax_bytes = 28;

/**
 * Why a transfer to the receiver cannot carry the memo, and what to do; undefined when it can.
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
