import { type ChainNode, type ChainRpc, createChainRpc, RpcFailed } from '../node/jsonRpc.ts';
import { tokenProgram } from './addresses.ts';
import { type SolanaConfig, solanaToken } from './config.ts';
import { accountsOf, statusOf } from './reads.ts';

export { ChainUnavailable, RpcFailed } from '../node/jsonRpc.ts';
export type SolanaNode = ChainNode;
export type SolanaRpc = ChainRpc;

export const createSolanaRpc = ({
  chainId,
  rpcUrls,
  callTimeout_ms,
}: Pick<SolanaConfig, 'chainId' | 'rpcUrls' | 'callTimeout_ms'>): SolanaRpc =>
  createChainRpc({
    chainId,
    rpcUrls,
    callTimeout_ms,
    async verify(node) {
      await verifyToken(node);
      await verifyHistory(node);
    },
  });

/** Where a mint keeps its decimals: behind its authority and supply. */
const decimalsAt = 44;

/** USDC stands at its address on the main network only. */
async function verifyToken(node: SolanaNode): Promise<void> {
  const { address, decimals, symbol } = solanaToken();
  const { accounts } = await accountsOf(node, [address], { commitment: 'confirmed' });
  const [mint] = accounts;
  if (mint?.owner === tokenProgram && mint.data[decimalsAt] === decimals) return;
  const detail = `serves a network without ${symbol} at ${address}: use a node of Solana's main network`;
  throw new RpcFailed(node.name, 'getMultipleAccounts', 'refused', detail);
}

/** Nobody can make a transaction with this signature: 64 bytes of zeros. */
const noSignature = '1'.repeat(64);

/** A node without history does not find old transactions, and would call payouts dead that have landed. It refuses to search. */
async function verifyHistory(node: SolanaNode): Promise<void> {
  await statusOf(node, noSignature);
}
