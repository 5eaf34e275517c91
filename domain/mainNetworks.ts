/** The main networks. Addresses: chain explorers and the issuers' pages. */
import { type Chain, usdc, usdt } from './chain.ts';

export const networks: readonly Chain[] = [
  {
    id: 8453,
    name: 'Base',
    family: 'evm',
    // Each second holds five blocks.
    block_ms: 200,
    finalized_ms: 1_200_000,
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  {
    id: 56,
    name: 'BNB Chain',
    family: 'evm',
    block_ms: 450,
    finalized_ms: 2_000,
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
    finalized_ms: 900_000,
    tokens: [usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'), usdt('0xdAC17F958D2ee523a2206206994597C13D831ec7')],
  },
  {
    id: 42161,
    name: 'Arbitrum',
    family: 'evm',
    block_ms: 250,
    finalized_ms: 1_200_000,
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'), usdt('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9')],
  },
  {
    id: 137,
    name: 'Polygon',
    family: 'evm',
    block_ms: 2_000,
    finalized_ms: 5_000,
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'), usdt('0xc2132D05D31c914a87C6611C10748AEb04B58e8F')],
  },
  {
    id: 501,
    name: 'Solana',
    family: 'solana',
    block_ms: 400,
    finalized_ms: 13_000,
    tokens: [usdc('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')],
  },
  {
    id: 1500,
    name: 'Stellar',
    family: 'stellar',
    block_ms: 5_000,
    finalized_ms: 5_000,
    tokens: [usdc('USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN', 7)],
    // Tether's USDT has the asset code USDT0 here. Payments on Stellar take USDC only (service reference 1).
    treasuryTokens: [usdt('USDT0:GATISXX6BZ6NC7IKQBY37CJD4SOZL3CYZJWXEDG6JVIY4WBS6KXJHN6Q', 7)],
  },
];
