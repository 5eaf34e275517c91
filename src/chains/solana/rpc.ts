import { type ChainNode, RpcFailed } from '../node/jsonRpc.ts';
import { type ChainRpc, type ChainRpcOptions, createChainRpc } from '../node/nodes.ts';
import { type SolanaConfig, solanaChain } from './config.ts';
import { signatureStatus } from './landed.ts';
import { accountsOf, codes, retryBehindNode } from './reads.ts';
import { isMint } from './tokenProgram.ts';

export { RpcFailed } from '../node/jsonRpc.ts';
export { ChainUnavailable } from '../node/nodes.ts';
export type SolanaNode = ChainNode;
export type SolanaRpc = ChainRpc;

export const createSolanaRpc = ({
  chainId,
  rpcUrls,
  agree,
  callTimeout_ms,
  lines,
}: Pick<SolanaConfig, 'chainId' | 'rpcUrls' | 'agree' | 'callTimeout_ms'> &
  Pick<ChainRpcOptions, 'lines'>): SolanaRpc =>
  retryBehindNode(
    createChainRpc({
      chainId,
      rpcUrls,
      agree,
      callTimeout_ms,
      lines,
      async verify(node) {
        await verifyTokens(node);
        await verifyHistory(node);
      },
    }),
  );

/** Catalogue tokens have these addresses on the main network only. */
async function verifyTokens(node: SolanaNode): Promise<void> {
  const { tokens } = solanaChain();
  const asked = tokens.map(({ address }) => address);
  const { accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
  const missing = tokens.find(({ decimals }, at) => !isMint(accounts[at], decimals));
  if (!missing) return;
  const detail = `serves a network without ${missing.symbol} at ${missing.address}: use a node of Solana's main network`;
  throw new RpcFailed(node.name, 'getMultipleAccounts', 'unfit', detail);
}

/** No transaction can have this signature: 64 bytes of zeros. */
const noSignature = '1'.repeat(64);

/** A node without history finds no old transactions, so it would call landed payouts dead. Such a node refuses this search. */
async function verifyHistory(node: SolanaNode): Promise<void> {
  await signatureStatus(node, noSignature).catch((error: unknown) => {
    if (!(error instanceof RpcFailed) || error.code !== codes.historyNotAvailable) throw error;
    const detail = 'it keeps no history of transactions, without which payouts that landed look lost: use another node';
    throw new RpcFailed(node.name, 'getSignatureStatuses', 'unfit', detail);
  });
}
