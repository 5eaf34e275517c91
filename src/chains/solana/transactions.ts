/** Typed calls about transactions. landed.ts reads their effects. */
import { ask, type ChainNode, list, object, optional, RpcFailed, text, whole } from '../node/jsonRpc.ts';
import { codes, contextSlot, options, type ReadContext } from './reads.ts';

export interface ListedSignature {
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
 * Lists transactions that name an account, newest first. If the node does not have `until`, because of a fork or its retention, the list
 * has no lower bound: nodes before Agave 4.2 list so themselves, later ones refuse (-32020).
 * @param between older than `before`, newer than `until`; null for no bound
 * @throws RpcFailed, as every function here; also if the node does not have `before`
 */
export async function signaturesOf(
  node: ChainNode,
  account: string,
  between: Between,
  asOf: ReadContext,
): Promise<readonly ListedSignature[]> {
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
  asOf: ReadContext,
): Promise<readonly ListedSignature[]> {
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
  /** The error as JSON; null for success. */
  readonly error: string | null;
}

export interface FoundStatus {
  /** Slot of the node. */
  readonly slot: bigint;
  /** Null if the transaction is not in the node's whole history. */
  readonly status: Status | null;
}

export const signatureStatus = (node: ChainNode, signature: string): Promise<FoundStatus> =>
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
  /** Reason why the transaction would fail; undefined if it would succeed. */
  readonly failure: string | undefined;
  /** Compute units that it used. */
  readonly units: number;
}

/** Simulates a transaction with any signatures. @param wire format of nodes, in base64 */
export const simulate = (node: ChainNode, wire: string, asOf: ReadContext): Promise<Rehearsal> =>
  ask(node, 'simulateTransaction', [wire, { encoding: 'base64', sigVerify: false, ...options(asOf) }], (answer) => {
    const { err, logs, unitsConsumed } = object(object(answer)['value']);
    // Several nodes may share an address, and this one does not know the block yet.
    if (err === 'BlockhashNotFound')
      throw new RpcFailed(node.name, 'simulateTransaction', 'refused', 'it lags behind its blockhash');
    if (err === null || err === undefined) return { failure: undefined, units: Number(whole(unitsConsumed)) };
    const said = optional(logs, list)?.findLast((line) => String(line).includes('Error:'));
    return { failure: String(said ?? JSON.stringify(err)).slice(0, 200), units: 0 };
  });
