import { type ChainNode, RpcFailed } from '../node/jsonRpc.ts';
import { type ChainRpc, type ChainRpcOptions, createChainRpc } from '../node/nodes.ts';
import type { EvmChainConfig } from './config.ts';

export { RpcFailed } from '../node/jsonRpc.ts';
export { ChainUnavailable } from '../node/nodes.ts';
export type EvmNode = ChainNode;
export type EvmRpc = ChainRpc;

/** The nodes of a chain, each asked first whether it serves that chain. */
export const createEvmRpc = ({
  chainId,
  rpcUrls,
  agree,
  callTimeout_ms,
  answerMax_bytes,
}: Pick<EvmChainConfig, 'chainId' | 'rpcUrls' | 'agree' | 'callTimeout_ms'> &
  Pick<ChainRpcOptions, 'answerMax_bytes'>): EvmRpc =>
  createChainRpc({
    chainId,
    rpcUrls,
    agree,
    callTimeout_ms,
    answerMax_bytes,
    async verify(node) {
      const id = Number(await node.request('eth_chainId', []));
      if (id === chainId) return;
      throw new RpcFailed(node.name, 'eth_chainId', 'refused', `serves chain ${id}, configured for ${chainId}`);
    },
  });
