import { numberToHex } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { ask, type ChainNode, isSwitchedOff, maySwitchedOff, RpcFailed, text } from '../node/jsonRpc.ts';
import { type ChainRpc, type ChainRpcOptions, createChainRpc } from '../node/nodes.ts';
import { type EvmChainConfig, networkId } from './config.ts';

export { RpcFailed } from '../node/jsonRpc.ts';
export { ChainUnavailable } from '../node/nodes.ts';
export type EvmNode = ChainNode;
export type EvmRpc = ChainRpc;

type EvmRpcOptions = Pick<EvmChainConfig, 'chainId' | 'rpcUrls' | 'agree' | 'callTimeout_ms'> &
  Pick<ChainRpcOptions, 'answerMax_bytes' | 'lines'>;

/** Nodes of a chain; the first call of each checks that it serves that chain and searches logs. */
export const createEvmRpc = ({
  chainId,
  rpcUrls,
  agree,
  callTimeout_ms,
  answerMax_bytes,
  lines,
}: EvmRpcOptions): EvmRpc =>
  createChainRpc({
    chainId,
    rpcUrls,
    agree,
    callTimeout_ms,
    answerMax_bytes,
    lines,
    async verify(node) {
      await verifyChain(node, chainId);
      await verifyLogs(node, chainId);
    },
  });

async function verifyChain(node: EvmNode, chainId: EvmRpcOptions['chainId']): Promise<void> {
  const id = Number(await ask(node, 'eth_chainId', [], text));
  if (id === networkId(chainId)) return;
  throw new RpcFailed(node.name, 'eth_chainId', 'unfit', `serves chain ${id}, configured for ${networkId(chainId)}`);
}

/** Maximum distance between back ends of one address. */
const settled_blocks = 16n;

/**
 * Some public nodes answer everything except log searches (bsc-dataseed: -32005 "limit exceeded", even for one block). The same text may
 * mean too many calls: it counts if another call succeeds in between. Other failures prove nothing permanent.
 */
async function verifyLogs(node: EvmNode, chainId: EvmRpcOptions['chainId']): Promise<void> {
  const newest = await ask(node, 'eth_blockNumber', [], (answer) => BigInt(text(answer)));
  const block = numberToHex(newest > settled_blocks ? newest - settled_blocks : 0n);
  const [token] = chainOf(chainId).tokens;
  const filter = { address: token?.address, fromBlock: block, toBlock: block };
  const search = () => node.request('eth_getLogs', [filter]).then(() => undefined, failureOf);

  const failure = await search();
  if (!failure || !mayBeOff(failure)) return;
  if (!isOff(failure)) {
    await ask(node, 'eth_chainId', [], text);
    const again = await search();
    if (!again || !mayBeOff(again)) return;
  }
  const detail = `it refuses searches for logs, even of one block ("${failure.detail}"), and cannot show payins: use another node`;
  throw new RpcFailed(node.name, 'eth_getLogs', 'unfit', detail);
}

const isOff = ({ code, detail }: RpcFailed): boolean => isSwitchedOff({ code, words: detail });
const mayBeOff = (failure: RpcFailed): boolean => isOff(failure) || maySwitchedOff({ words: failure.detail });

function failureOf(error: unknown): RpcFailed {
  if (error instanceof RpcFailed) return error;
  throw error;
}
