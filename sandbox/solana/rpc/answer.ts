/** One JSON-RPC request: the method that answers it, and the fault that is due. */
import { RpcError } from '../../rpcError.ts';
import { getAccountInfo, getBalance, getMultipleAccounts, getProgramAccounts } from './accounts.ts';
import { getBlock, getBlocks, getBlocksWithLimit, getBlockTime } from './blocks.ts';
import * as cluster from './cluster.ts';
import { addFault, advanceSlots, behindOf, clearFaults, fork, fund, plant, plantCctp } from './controls.ts';
import { type Method, type Node, type Params, rpcCodes, type View } from './method.ts';
import { requestAirdrop, sendTransaction, signatureIn, simulateTransaction } from './send.ts';
import * as tokens from './tokens.ts';
import { getSignatureStatuses, getSignaturesForAddress, getTransaction } from './transactions.ts';

const methods: Readonly<Record<string, Method>> = {
  ...cluster.methods,
  getBalance,
  getAccountInfo,
  getMultipleAccounts,
  getProgramAccounts,
  ...tokens,
  getBlock,
  getBlocks,
  getBlocksWithLimit,
  getBlockTime,
  sendTransaction,
  simulateTransaction,
  requestAirdrop,
  getSignatureStatuses,
  getSignaturesForAddress,
  getTransaction,
  sandbox_advanceSlots: advanceSlots,
  sandbox_plant: plant,
  sandbox_plantCctp: plantCctp,
  sandbox_fund: fund,
  sandbox_fault: addFault,
  sandbox_clearFaults: clearFaults,
  sandbox_fork: fork,
};

const run = async (method: Method, view: View, params: Params): Promise<unknown> => method(view, params);

/** Reply to the caller: an answer, a broken connection, or HTTP 503. */
export type Answer = { readonly result: unknown } | 'lost' | 'unavailable';

/** @throws RpcError */
export async function answer(node: Node, name: string, params: Params): Promise<Answer> {
  if (name !== 'sandbox_behind') return answerAt(node, node.chain.head(), name, params);
  const call = behindOf(params);
  return answerAt(node, node.chain.head() - call.slots, call.method, call.params);
}

async function answerAt(node: Node, head: number, name: string, params: Params): Promise<Answer> {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) throw new RpcError(rpcCodes.methodNotFound, 'Method not found');
  const { chain, faults } = node;
  const view: View = { chain, faults, head };
  const fault = faults.take(name);
  switch (fault?.kind) {
    case undefined:
      return { result: await method(view, params) };
    case 'unavailable':
      return 'unavailable';
    case 'lostAnswer':
      // Errors are lost as well.
      await run(method, view, params).catch(() => undefined);
      return 'lost';
    case 'duplicate':
      await method(view, params);
      return { result: await method(view, params) };
    case 'drop':
      return { result: signatureIn(params) };
    case 'lagging':
      return { result: await method({ ...view, head: view.head - (fault?.slots ?? 1) }, params) };
  }
}
