import type { ChainFamily } from '../../domain/chains.ts';

/** WebSocket URL of a local chain: anvil's has the same port, Solana's one higher; Stellar RPC has none. */
export function wsUrlOf(family: ChainFamily, rpcUrl: string): string | undefined {
  if (family === 'stellar') return undefined;
  const { hostname, port } = new URL(rpcUrl);
  return `ws://${hostname}:${Number(port) + (family === 'solana' ? 1 : 0)}`;
}
