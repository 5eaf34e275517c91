/** What the adapter asks of a node about transactions, as typed values. landed.ts reads what they did. */
import { ask, type ChainNode, list, object, optional, RpcFailed, text, whole } from '../node/jsonRpc.ts';
import { type AsOf, codes, contextSlot, options } from './reads.ts';

export interface Seen {
  readonly signature: string;
  readonly slot: bigint;
  readonly failed: boolean;
}

export const signaturesPerCall = 1_000;

interface Between {
  readonly until: string | null;
  readonly before: string | null;
}

/**
 * Lists transactions that name an account, newest first. If the node does not have `until`, because a fork took it away or the node has
 * dropped it, the list has no lower bound: nodes before Agave 4.2 list so themselves, later ones refuse (-32020).
 * @param between older ones than `before`, newer ones than `until`; null for no bound
 * @throws RpcFailed, as every function here; also when the node does not have `before`
 */
export async function signaturesOf(
  node: ChainNode,
  account: string,
  between: Between,
  asOf: AsOf,
): Promise<readonly Seen[]> {
  try {
    return await signaturesBetween(node, account, between, asOf);
  } catch (error) {
    const isMissing = error instanceof RpcFailed && error.code === codes.transactionNotFound;
    if (!isMissing || between.until === null) throw error;
    return signaturesBetween(node, account, { ...between, until: null }, asOf);
  }
}

function signaturesBetween(
  node: ChainNode,
  account: string,
  { until, before }: Between,
  asOf: AsOf,
): Promise<readonly Seen[]> {
  const config = { ...options(asOf), limit: signaturesPerCall, ...(until && { until }), ...(before && { before }) };
  return ask(node, 'getSignaturesForAddress', [account, config], (answer) =>
    list(answer).map((entry) => {
      const { signature, slot, err } = object(entry);
      return { signature: text(signature), slot: whole(slot), failed: err !== null && err !== undefined };
    }),
  );
}

export interface Status {
  readonly slot: bigint;
  readonly final: boolean;
  /** What went wrong, as JSON; null for success. */
  readonly error: string | null;
}

export interface FoundStatus {
  /** How far the node had come. */
  readonly slot: bigint;
  /** Null when the transaction is not in the node's whole history. */
  readonly status: Status | null;
}

export const statusOf = (node: ChainNode, signature: string): Promise<FoundStatus> =>
  ask(node, 'getSignatureStatuses', [[signature], { searchTransactionHistory: true }], (found) => {
    const answer = object(found);
    const [status, ...others] = list(answer['value']);
    if (status === undefined || others.length > 0) throw new Error('expected one status');
    return { slot: contextSlot(answer), status: optional(status, statusIn) ?? null };
  });

function statusIn(value: unknown): Status {
  const { slot, confirmationStatus, err } = object(value);
  return {
    slot: whole(slot),
    final: confirmationStatus === 'finalized',
    error: err === null || err === undefined ? null : JSON.stringify(err),
  };
}

export interface Rehearsal {
  /** Why the transaction would fail; undefined when it would not. */
  readonly failure: string | undefined;
  /** Compute units that it used. */
  readonly units: number;
}

/** Runs a transaction without sending it, whatever its signatures. @param wire as nodes take it, in base64 */
export const simulate = (node: ChainNode, wire: string, asOf: AsOf): Promise<Rehearsal> =>
  ask(node, 'simulateTransaction', [wire, { encoding: 'base64', sigVerify: false, ...options(asOf) }], (answer) => {
    const { err, logs, unitsConsumed } = object(object(answer)['value']);
    // Behind one address there may be several nodes, and this one does not know the block yet.
    if (err === 'BlockhashNotFound')
      throw new RpcFailed(node.name, 'simulateTransaction', 'refused', 'it lags behind its blockhash');
    if (err === null || err === undefined) return { failure: undefined, units: Number(whole(unitsConsumed)) };
    const said = optional(logs, list)?.findLast((line) => String(line).includes('Error:'));
    return { failure: String(said ?? JSON.stringify(err)).slice(0, 200), units: 0 };
  });
