/** One JSON-RPC request: the method that answers it, and the fault that is due. */
import { RpcError } from '../../rpcError.ts';
import type { EventRecord } from '../chain/history.ts';
import { addFault, clearFaults, closeLedgers, forget, fund, plant, plantCctp, plantUsdt0 } from './controls.ts';
import { getEvents } from './events.ts';
import { getFeeStats } from './feeStats.ts';
import { getLatestLedger, getLedgers } from './ledgers.ts';
import { invalid, type Method, type Node, noParams, type Params, rpcCodes, textParam } from './method.ts';
import { getHealth, getLedgerEntries, getNetwork, getVersionInfo } from './network.ts';
import { simulateTransaction } from './simulate.ts';
import { getTransaction, getTransactions, pretendTo, sendTransaction } from './transactions.ts';

const methods: Readonly<Record<string, Method>> = {
  getHealth: withoutParams(getHealth),
  getNetwork,
  getVersionInfo: withoutParams(getVersionInfo),
  getFeeStats: withoutParams(getFeeStats),
  getLatestLedger: withoutParams(getLatestLedger),
  getLedgerEntries,
  simulateTransaction,
  sendTransaction,
  getTransaction,
  getTransactions,
  getEvents,
  getLedgers,
  sandbox_closeLedgers: closeLedgers,
  sandbox_plant: plant,
  sandbox_plantCctp: plantCctp,
  sandbox_plantUsdt0: plantUsdt0,
  sandbox_fund: fund,
  sandbox_fault: addFault,
  sandbox_clearFaults: clearFaults,
  sandbox_forget: forget,
};

/** Reply to the caller: an answer, a broken connection, or HTTP 503. */
export type Answer = { readonly result: object } | 'lost' | 'unavailable';

/** @throws RpcError */
export function answer(node: Node, name: string, params: Params): Answer {
  const method = methods[name];
  if (!method) throw new RpcError(rpcCodes.methodNotFound, 'method not found', name);
  switch (node.faults.take(name)?.kind) {
    case undefined:
      return { result: method(node, params) };
    case 'unavailable':
      return 'unavailable';
    case 'lostAnswer':
      method(node, params);
      return 'lost';
    case 'duplicate':
      return { result: twice(method, node, params) };
    case 'drop':
      return { result: pretendTo(node, 'PENDING', textParam(params, 'transaction')) };
    case 'tryAgainLater':
      return { result: pretendTo(node, 'TRY_AGAIN_LATER', textParam(params, 'transaction')) };
  }
}

/** Refuses parameters, even empty ones, as stellar-rpc does up to version 24. */
function withoutParams(method: Method): Method {
  return (node, params) => {
    if (params !== noParams) throw invalid('no parameters accepted');
    return method(node, params);
  };
}

function twice(method: Method, node: Node, params: Params): object {
  method(node, params);
  const second = method(node, params);
  if (!('events' in second) || !Array.isArray(second.events)) return second;
  return { ...second, events: second.events.flatMap((event: EventRecord) => [event, event]) };
}
