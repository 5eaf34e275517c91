/**
 * Test networks under the ids of their main networks: an operator tries keys and nodes on them before real money moves. Addresses: the
 * issuer's page (developers.circle.com, USDC contract addresses); BNB uses the substitutes of its faucet and exchanges.
 */
import { type Chain, usdc, usdt } from './chain.ts';

export const networks: readonly Chain[] = [
  {
    id: 8453,
    name: 'Base Sepolia',
    family: 'evm',
    network: '84532',
    block_ms: 200,
    finalized_ms: 1_200_000,
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e')],
  },
  {
    id: 56,
    name: 'BNB testnet',
    family: 'evm',
    network: '97',
    block_ms: 450,
    finalized_ms: 2_000,
    tokens: [
      usdc('0x64544969ed7EBf5f083679233325356EbE738930', 18),
      usdt('0x337610d27c682E347C9cD60BD4b3b107C9d34dDd', 18),
    ],
  },
  {
    id: 1,
    name: 'Ethereum Sepolia',
    family: 'evm',
    network: '11155111',
    block_ms: 12_000,
    finalized_ms: 900_000,
    tokens: [usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')],
  },
  {
    id: 42161,
    name: 'Arbitrum Sepolia',
    family: 'evm',
    network: '421614',
    block_ms: 250,
    finalized_ms: 1_200_000,
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d')],
  },
  {
    id: 137,
    name: 'Polygon Amoy',
    family: 'evm',
    network: '80002',
    block_ms: 2_000,
    finalized_ms: 5_000,
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582')],
  },
  {
    id: 501,
    name: 'Solana devnet',
    family: 'solana',
    network: 'devnet',
    block_ms: 400,
    finalized_ms: 13_000,
    tokens: [usdc('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU')],
  },
  {
    id: 1500,
    name: 'Stellar testnet',
    family: 'stellar',
    network: 'Test SDF Network ; September 2015',
    block_ms: 5_000,
    finalized_ms: 5_000,
    tokens: [usdc('USDC:GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5', 7)],
  },
];
