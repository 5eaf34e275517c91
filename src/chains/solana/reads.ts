/** What the adapter asks of a node, as typed values. A malformed answer counts as a failure of the node. */
import { type ChainNode, RpcFailed } from '../node/jsonRpc.ts';

export type Commitment = 'confirmed' | 'finalized';

/** How a node is asked: as of which commitment, and by a node that has come at least so far. */
export interface AsOf {
  readonly commitment: Commitment;
  readonly minContextSlot?: bigint;
}

export interface RawAccount {
  /** The program that it belongs to. */
  readonly owner: string;
  readonly lamports: bigint;
  readonly executable: boolean;
  readonly data: Buffer;
}

type Json = Readonly<Record<string, unknown>>;

const options = ({ commitment, minContextSlot }: AsOf): Json => ({
  commitment,
  ...(minContextSlot !== undefined && { minContextSlot: Number(minContextSlot) }),
});

export const slotOf = async (node: ChainNode, commitment: Commitment): Promise<bigint> =>
  whole(node, 'getSlot', await node.request('getSlot', [{ commitment }]));

/** How many accounts one call may ask for. */
export const accountsPerCall = 100;

/**
 * @param slice only these bytes of each
 * @returns in the order of the addresses; null where there is nothing
 */
export async function accountsOf(
  node: ChainNode,
  addresses: readonly string[],
  asOf: AsOf & { readonly slice?: { readonly offset: number; readonly length: number } },
): Promise<{ readonly slot: bigint; readonly accounts: readonly (RawAccount | null)[] }> {
  const method = 'getMultipleAccounts';
  const config = { ...options(asOf), encoding: 'base64', ...(asOf.slice && { dataSlice: asOf.slice }) };
  const answer = objectOf(node, method, await node.request(method, [addresses, config]));
  const value = answer['value'];
  if (!Array.isArray(value) || value.length !== addresses.length) throw malformed(node, method, 'value');
  return { slot: contextSlot(node, method, answer), accounts: value.map((each) => accountOf(node, method, each)) };
}

function accountOf(node: ChainNode, method: string, value: unknown): RawAccount | null {
  if (value === null) return null;
  const { owner, lamports, executable, data } = objectOf(node, method, value);
  const [base64] = Array.isArray(data) ? data : [];
  if (typeof owner !== 'string' || typeof base64 !== 'string') throw malformed(node, method, 'an account');
  return {
    owner,
    lamports: whole(node, method, lamports),
    executable: executable === true,
    data: Buffer.from(base64, 'base64'),
  };
}

export interface Block {
  readonly slot: bigint;
  readonly height: bigint;
  readonly hash: string;
  readonly parentSlot: bigint;
  /** Unix seconds. */
  readonly time_s: number;
}

/** @throws RpcFailed also when the slot has no block, or the node does not have it (yet, or any more) */
export async function blockAt(node: ChainNode, slot: bigint, commitment: Commitment): Promise<Block> {
  const method = 'getBlock';
  const config = { commitment, transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0 };
  const answer = objectOf(node, method, await node.request(method, [Number(slot), config]));
  const { blockhash } = answer;
  if (typeof blockhash !== 'string') throw malformed(node, method, 'blockhash');
  return {
    slot,
    height: whole(node, method, answer['blockHeight']),
    hash: blockhash,
    parentSlot: whole(node, method, answer['parentSlot']),
    time_s: Number(whole(node, method, answer['blockTime'])),
  };
}

/** The final slots from `from` to `to` that have a block, as far as the node has them. */
export async function finalBlocks(node: ChainNode, from: bigint, to: bigint): Promise<readonly bigint[]> {
  const method = 'getBlocks';
  const config = { commitment: 'finalized' };
  const answer = await node.request(method, [Number(from), Number(to), config]);
  if (!Array.isArray(answer)) throw malformed(node, method, 'the answer');
  return answer.map((slot) => whole(node, method, slot));
}

/** The newest final block. */
export async function finalHead(node: ChainNode): Promise<{ readonly slot: bigint; readonly height: bigint }> {
  const method = 'getEpochInfo';
  const answer = objectOf(node, method, await node.request(method, [{ commitment: 'finalized' }]));
  return {
    slot: whole(node, method, answer['absoluteSlot']),
    height: whole(node, method, answer['blockHeight']),
  };
}

export interface Seen {
  readonly signature: string;
  readonly slot: bigint;
  readonly failed: boolean;
}

export const signaturesPerCall = 1_000;

/** Transactions that name an account, newest first. @param between `until` is older and left out, as is `before` */
export async function signaturesOf(
  node: ChainNode,
  account: string,
  between: { readonly until: string | null; readonly before: string | null },
  asOf: AsOf,
): Promise<readonly Seen[]> {
  const method = 'getSignaturesForAddress';
  const { until, before } = between;
  const config = { ...options(asOf), limit: signaturesPerCall, ...(until && { until }), ...(before && { before }) };
  const answer = await node.request(method, [account, config]);
  if (!Array.isArray(answer)) throw malformed(node, method, 'the answer');
  return answer.map((entry) => {
    const { signature, slot, err } = objectOf(node, method, entry);
    if (typeof signature !== 'string') throw malformed(node, method, 'signature');
    return { signature, slot: whole(node, method, slot), failed: err !== null && err !== undefined };
  });
}

export interface TokenBalance {
  readonly account: string;
  /** Place of the account among all that the transaction names. */
  readonly index: number;
  readonly mint: string;
  readonly owner: string | undefined;
  readonly program: string | undefined;
  readonly amount: bigint;
}

/** What a transaction did to token accounts. */
export interface Landed {
  readonly signature: string;
  readonly slot: bigint;
  readonly failed: boolean;
  readonly feePayer: string;
  readonly before: readonly TokenBalance[];
  readonly after: readonly TokenBalance[];
}

/** Null when the node does not know it, or it has not come as far as the commitment. */
export async function landed(node: ChainNode, signature: string, commitment: Commitment): Promise<Landed | null> {
  const method = 'getTransaction';
  const config = { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 };
  const answer = await node.request(method, [signature, config]);
  if (answer === null) return null;
  const { slot, meta, transaction } = objectOf(node, method, answer);
  const { err, preTokenBalances, postTokenBalances, loadedAddresses } = objectOf(node, method, meta);
  const { accountKeys } = objectOf(node, method, objectOf(node, method, transaction)['message']);
  if (!Array.isArray(accountKeys)) throw malformed(node, method, 'accountKeys');
  const loaded = (loadedAddresses ?? {}) as { writable?: readonly string[]; readonly?: readonly string[] };
  const keys = [...accountKeys.map(String), ...(loaded.writable ?? []), ...(loaded.readonly ?? [])];
  const balances = (list: unknown) =>
    (Array.isArray(list) ? list : []).map((entry) => balanceOf(node, method, keys, objectOf(node, method, entry)));
  return {
    signature,
    slot: whole(node, method, slot),
    failed: err !== null,
    feePayer: keys[0] ?? '',
    before: balances(preTokenBalances),
    after: balances(postTokenBalances),
  };
}

function balanceOf(node: ChainNode, method: string, keys: readonly string[], entry: Json): TokenBalance {
  const index = Number(whole(node, method, entry['accountIndex']));
  const account = keys[index];
  const { amount } = objectOf(node, method, entry['uiTokenAmount']);
  if (account === undefined) throw malformed(node, method, 'accountIndex');
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    account,
    index,
    mint: String(entry['mint']),
    owner: text(entry['owner']),
    program: text(entry['programId']),
    amount: whole(node, method, amount),
  };
}

export interface Status {
  readonly slot: bigint;
  readonly final: boolean;
  /** What went wrong, as JSON; null for success. */
  readonly error: string | null;
}

/** Of a transaction in the node's whole history; null when it is not there. `slot`: how far the node had come. */
export async function statusOf(
  node: ChainNode,
  signature: string,
): Promise<{ readonly slot: bigint; readonly status: Status | null }> {
  const method = 'getSignatureStatuses';
  const answer = objectOf(node, method, await node.request(method, [[signature], { searchTransactionHistory: true }]));
  const value = answer['value'];
  if (!Array.isArray(value) || value.length !== 1) throw malformed(node, method, 'value');
  const slot = contextSlot(node, method, answer);
  if (value[0] === null) return { slot, status: null };
  const status = objectOf(node, method, value[0]);
  const { err, confirmationStatus } = status;
  return {
    slot,
    status: {
      slot: whole(node, method, status['slot']),
      final: confirmationStatus === 'finalized',
      error: err === null || err === undefined ? null : JSON.stringify(err),
    },
  };
}

export const malformed = (node: ChainNode, method: string, what: string): RpcFailed =>
  new RpcFailed(node.name, method, 'malformed', `${what} is not as specified`);

export const lagging = (node: ChainNode, method: string, slot: bigint): RpcFailed =>
  new RpcFailed(node.name, method, 'refused', `it lags behind slot ${slot}`);

export function objectOf(node: ChainNode, method: string, value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw malformed(node, method, 'the answer');
  return value as Json;
}

export const contextSlot = (node: ChainNode, method: string, answer: Json): bigint =>
  whole(node, method, objectOf(node, method, answer['context'])['slot']);

export function whole(node: ChainNode, method: string, value: unknown): bigint {
  const text = String(value);
  if (!/^\d{1,20}$/.test(text)) throw malformed(node, method, `a number (${text.slice(0, 40)})`);
  return BigInt(text);
}
