/** Effects of a transaction on token accounts, from a node's `meta`, for any transaction version. */
import { evidenceMax } from '../../../commands/chainPorts.ts';
import { ask, type ChainNode, list, object, optional, RpcFailed, type RpcJson, text, whole } from '../node/jsonRpc.ts';
import { type Commitment, codes, contextSlot, newestVersion, options, type ReadContext } from './reads.ts';

export interface TokenBalance {
  readonly account: string;
  /** Index of the account among all that the transaction names. */
  readonly index: number;
  readonly mint: string;
  /** Nodes omit owner and program in old transactions. */
  readonly owner: string | undefined;
  readonly program: string | undefined;
  readonly amount: bigint;
}

export interface LandedTransaction {
  readonly signature: string;
  readonly slot: bigint;
  readonly failed: boolean;
  /** All accounts that it names; the first one pays the fee. */
  readonly accounts: readonly string[];
  readonly before: readonly TokenBalance[];
  readonly after: readonly TokenBalance[];
  /** Undefined if the node omits the coin. */
  readonly coin: CoinMoved | undefined;
}

/** In lamports. */
export interface CoinMoved {
  /** Fee paid by its first account. */
  readonly fee: bigint;
  /** Balances of all accounts, in order; the fee is deducted in the second. */
  readonly before: readonly bigint[];
  readonly after: readonly bigint[];
}

/** A node returns a transaction that cannot be parsed: a newer version, no `meta`, a missing field. */
export class TransactionUnreadable extends RpcFailed {
  readonly signature: string;
  /** The defect and the node's answer. */
  readonly evidence: string;
  constructor(node: string, signature: string, why: string, shown: unknown = null) {
    super(node, method, 'malformed', `${signature} cannot be read: ${why}`);
    this.signature = signature;
    this.evidence = `${node}: ${why}; ${JSON.stringify(shown)}`.slice(0, evidenceMax);
  }
}

const method = 'getTransaction';

/**
 * Null if the node does not know it, or it has not reached the commitment.
 * @throws RpcFailed, including TransactionUnreadable
 */
export async function landed(
  node: ChainNode,
  signature: string,
  commitment: Commitment,
): Promise<LandedTransaction | null> {
  const [found] = await landedEach(node, [signature], commitment);
  if (found instanceof TransactionUnreadable) throw found;
  return found ?? null;
}

/** Many transactions in as few requests as the node accepts, in the order of the signatures. @throws RpcFailed */
export async function landedEach(
  node: ChainNode,
  signatures: readonly string[],
  commitment: Commitment,
): Promise<readonly (LandedTransaction | TransactionUnreadable | null)[]> {
  const config = { commitment, encoding: 'json', maxSupportedTransactionVersion: newestVersion };
  const answers = await node.batch(signatures.map((signature) => ({ method, params: [signature, config] })));
  return signatures.map((signature, at) => {
    const answer = answers[at] ?? { value: undefined };
    if (!('failure' in answer)) return readIn(node, signature, answer.value);
    const { code, detail } = answer.failure;
    if (code !== codes.unsupportedVersion) throw answer.failure;
    return new TransactionUnreadable(node.name, signature, `${detail} Upgrade this service`);
  });
}

function readIn(
  { name }: ChainNode,
  signature: string,
  shown: unknown,
): LandedTransaction | TransactionUnreadable | null {
  if (shown === null) return null;
  if (typeof shown !== 'object') throw new RpcFailed(name, method, 'malformed', 'expected an object');
  try {
    return landedIn(signature, object(shown));
  } catch (error) {
    return new TransactionUnreadable(name, signature, error instanceof Error ? error.message : 'unreadable', shown);
  }
}

function landedIn(signature: string, { slot, meta, transaction }: RpcJson): LandedTransaction {
  const told = objectOf('meta', meta);
  const { message, signatures } = objectOf('transaction', transaction);
  const { accountKeys } = objectOf('message', message);
  // The transaction's own first signature is its identity, whichever signature was queried.
  const [own = signature] = (optional(signatures, list) ?? []).map(text);
  const { writable, readonly } = optional(told['loadedAddresses'], object) ?? {};
  const accounts = [accountKeys, writable ?? [], readonly ?? []].flatMap((part) => list(part).map(text));
  return landedBy(own, whole(slot), accounts, told);
}

/**
 * A transaction of a block in the format of `getBlock` with `transactionDetails: accounts`: all accounts in order, and the changes.
 * Undefined if it cannot be parsed.
 */
export function landedInBlock(slot: bigint, shown: unknown): LandedTransaction | undefined {
  try {
    const { transaction, meta } = object(shown);
    const { signatures, accountKeys } = objectOf('transaction', transaction);
    const accounts = list(accountKeys).map((each) => text(object(each)['pubkey']));
    return landedBy(text(list(signatures)[0]), slot, accounts, objectOf('meta', meta));
  } catch {
    return undefined;
  }
}

function landedBy(signature: string, slot: bigint, accounts: readonly string[], told: RpcJson): LandedTransaction {
  const { err, preTokenBalances, postTokenBalances } = told;
  const balances = (found: unknown) => (optional(found, list) ?? []).map((entry) => balanceOf(accounts, object(entry)));
  return {
    signature,
    slot,
    failed: err !== null && err !== undefined,
    accounts,
    before: balances(preTokenBalances),
    after: balances(postTokenBalances),
    coin: coinIn(told),
  };
}

/** Incomplete coin data is ignored: tokens can be read without it. */
function coinIn({ fee, preBalances, postBalances }: RpcJson): CoinMoved | undefined {
  const [paid, before, after] = [
    optional(fee, whole),
    optional(preBalances, (each) => list(each).map(whole)),
    optional(postBalances, (each) => list(each).map(whole)),
  ];
  return paid !== undefined && before && after ? { fee: paid, before, after } : undefined;
}

function objectOf(name: string, value: unknown): RpcJson {
  if (value === null || value === undefined) throw new Error(`it has no ${name}`);
  return object(value);
}

function balanceOf(
  accounts: readonly string[],
  { accountIndex, mint, owner, programId, uiTokenAmount }: RpcJson,
): TokenBalance {
  const index = Number(whole(accountIndex));
  return {
    account: text(accounts[index]),
    index,
    mint: text(mint),
    owner: optional(owner, text),
    program: optional(programId, text),
    amount: whole(object(uiTokenAmount)['amount']),
  };
}

// Typed calls about transactions. landed.ts reads their effects.

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
