/** What a chain and its tokens are. */
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
  /** Usual time until the network itself calls a block final, for people who wait: nothing is final by this alone. */
  readonly finalized_ms: number;
  readonly tokens: readonly Token[];
  /** What nodes and transactions call its network, where that is a test network: the chain id (EVM), the passphrase (Stellar). */
  readonly network?: string;
}

export const usdc = (address: string, decimals = 6): Token => ({ symbol: 'USDC', address, decimals });
export const usdt = (address: string, decimals = 6): Token => ({ symbol: 'USDT', address, decimals });
