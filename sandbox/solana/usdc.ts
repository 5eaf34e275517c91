import { address } from '@solana/kit';

/** USDC as Circle issues it on the public network. */
export const usdc = { mint: address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'), decimals: 6 } as const;
