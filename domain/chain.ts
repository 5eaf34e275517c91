/** Chains and their tokens. */
export const chainIds = [8453, 56, 1, 42161, 137, 501, 1500] as const;
export type ChainId = (typeof chainIds)[number];

export const tokenSymbols = ['USDC', 'USDT'] as const;
export type TokenSymbol = (typeof tokenSymbols)[number];

/** The currency (ISO 4217, small letters) that one whole token is worth. Only tokens pegged to the US dollar enter the catalogue. */
export const pegs = { USDC: 'usd', USDT: 'usd' } as const satisfies Readonly<Record<TokenSymbol, string>>;
/** Tokens that are converted one to one. Amounts of another token do not compile there (dollars.ts). */
export type DollarSymbol = { [S in TokenSymbol]: (typeof pegs)[S] extends 'usd' ? S : never }[TokenSymbol];

export type ChainFamily = 'evm' | 'solana' | 'stellar';

export interface Token {
  readonly symbol: TokenSymbol;
  /** Contract, mint or asset, in the chain's canonical spelling. */
  readonly address: string;
  readonly decimals: number;
}

export interface DollarToken extends Token {
  readonly symbol: DollarSymbol;
}

export interface Chain {
  readonly id: ChainId;
  readonly name: string;
  readonly family: ChainFamily;
  /** Usual time between blocks. A network may change it, so it never decides finality alone. */
  readonly block_ms: number;
  /** Usual time until the network itself calls a block final, for people who wait: it never decides finality. */
  readonly finalized_ms: number;
  readonly tokens: readonly DollarToken[];
  /** Tokens that only the treasury holds, to move its float. No payment is offered in them. Default: none. */
  readonly treasuryTokens?: readonly DollarToken[];
  /** The test network's own id, as nodes and transactions name it: the chain id (EVM) or the passphrase (Stellar). */
  readonly network?: string;
}

export const usdc = (address: string, decimals = 6): DollarToken => ({ symbol: 'USDC', address, decimals });
export const usdt = (address: string, decimals = 6): DollarToken => ({ symbol: 'USDT', address, decimals });
