/** Effects of a transaction on token accounts, from a node's `meta`, for any transaction version. */
import { evidenceMax } from '../../../commands/chainPorts.ts';
import { type ChainNode, list, object, optional, RpcFailed, type RpcJson, text, whole } from '../node/jsonRpc.ts';
import { type Commitment, codes, newestVersion } from './reads.ts';

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
