/** The methods that a node answers, as stellar-rpc does. */
import { xdr } from '@stellar/stellar-sdk';
import { RpcError } from '../../../../sandbox/rpcError.ts';
import { lastPosition, positionOf, totalOrderId } from '../../../../sandbox/stellar/chain/eventIds.ts';
import { accountEntry, trustlineEntry } from '../../../../sandbox/stellar/ledger/entries.ts';
import { getEvents as eventsOf } from '../../../../sandbox/stellar/rpc/events.ts';
import { ledgerRange, type Node as SandboxNode } from '../../../../sandbox/stellar/rpc/method.ts';
import { refusedResult } from '../../../../sandbox/stellar/transactions/results.ts';
import { accountText, base64, int64 } from '../../../../sandbox/stellar/xdr.ts';
import { NodeAway } from '../../kernel/ports.ts';
import { assetOf } from './landing.ts';
import { balanceKey, type Landed, native, sequenceKey } from './ledgers.ts';
import type { StellarNode } from './node.ts';
import { assetText, entriesAt, feeOf, outbids, problemOf, read } from './transactions.ts';

type Params = Readonly<Record<string, unknown>>;
type Method = (node: StellarNode, params: Params) => object;

const trustMost = 2n ** 63n - 1n;

const rangeOf = (node: StellarNode) => ledgerRange({ history: { head: node.latest, oldest: node.oldest } });

function describe({ record, feeXdr, operationXdr }: Landed): object {
  const { succeeded, hash, order, innerHash, envelopeXdr, resultXdr, ledger } = record;
  return {
    status: succeeded ? 'SUCCESS' : 'FAILED',
    txHash: hash,
    applicationOrder: order,
    feeBump: innerHash !== undefined,
    envelopeXdr,
    resultXdr,
    ledger,
    events: { transactionEventsXdr: [feeXdr], contractEventsXdr: operationXdr.length > 0 ? [operationXdr] : [] },
  };
}

function getTransaction(node: StellarNode, { hash }: Params): object {
  const found = node.shown().find(({ record }) => record.hash === hash || record.innerHash === hash);
  const range = rangeOf(node);
  if (!found) return { status: 'NOT_FOUND', txHash: hash, ...range };
  return { ...range, ...describe(found), createdAt: String(found.record.createdAt_s) };
}

function getTransactions(node: StellarNode, params: Params): object {
  const { cursor, limit = 50 } = (params['pagination'] ?? {}) as { cursor?: string; limit?: number };
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const start = after?.ledger ?? Number(params['startLedger']);
  checkRange(node, start);
  const page = node
    .shown()
    .filter(({ record: { ledger, order } }) =>
      after ? ledger > after.ledger || (ledger === after.ledger && order > after.transaction) : ledger >= start,
    )
    .slice(0, limit);
  return {
    transactions: page.map((each) => ({ ...describe(each), createdAt: each.record.createdAt_s })),
    ...rangeOf(node),
    cursor: totalOrderId(lastPosition(page.at(-1)?.record.ledger ?? node.latest().sequence)),
  };
}

function checkRange(node: StellarNode, ledger: number): void {
  const [from, to] = [node.oldest().sequence, node.latest().sequence];
  if (ledger < from || ledger > to)
    throw new RpcError(-32_600, `startLedger must be within the ledger range: ${from} - ${to}`);
}

/** The sandbox's own method, over this node's view. */
function getEvents(node: StellarNode, params: Params): object {
  const landed = node.spells.has('hidesEvents') ? [] : node.shown();
  const events = landed.flatMap((each) => each.events).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const history = { head: node.latest, oldest: () => node.oldest(), events: () => events };
  return eventsOf({ chain: { history } } as unknown as SandboxNode, params);
}

const entries = new Map<string, string>();
const entriesMost = 2_000;

/** Encoding entries is slow, and they rarely change. */
function written(key: string, write: () => xdr.LedgerEntryData): string {
  if (entries.size >= entriesMost) entries.clear();
  const known = entries.get(key) ?? base64(write());
  entries.set(key, known);
  return known;
}

function getLedgerEntries(node: StellarNode, { keys }: Params): object {
  const { sequence: latestLedger } = node.latest();
  const found = (keys as readonly string[]).flatMap((key) => {
    const value = entryOf(node, xdr.LedgerKey.fromXDR(key, 'base64'), latestLedger);
    return value === undefined ? [] : { key, xdr: value, lastModifiedLedgerSeq: latestLedger };
  });
  return { entries: found, latestLedger };
}

function entryOf(
  { ledgers, spells, treasury, waiting }: StellarNode,
  key: xdr.LedgerKey,
  at: number,
): string | undefined {
  const heldAs = (name: string) => ledgers.valueAt(at, name);
  if (key.switch().name === 'account') {
    const account = accountText(key.account().accountId());
    const [sequence, lumens] = [heldAs(sequenceKey(account)), heldAs(balanceKey(native, account))];
    if (sequence === undefined || lumens === undefined) return undefined;
    const told = sequence + (spells.has('countsOn') && account === treasury && waiting.has(treasury) ? 1n : 0n);
    return written(`${account} ${told} ${lumens}`, () => {
      const entry = accountEntry(account, lumens, 0);
      entry.account().seqNum(int64(told));
      return entry;
    });
  }
  if (key.switch().name !== 'trustline') return undefined;
  const line = key.trustLine();
  const account = accountText(line.accountId());
  const asset = assetText(assetIn(line.asset()));
  const held = heldAs(balanceKey(asset, account));
  if (held === undefined) return undefined;
  return written(`${asset} ${account} ${held}`, () => {
    const entry = trustlineEntry(account, assetOf(asset), trustMost);
    entry.trustLine().balance(int64(held));
    return entry;
  });
}

function assetIn(asset: xdr.TrustLineAsset) {
  const four = asset.switch().name === 'assetTypeCreditAlphanum4';
  const named = four ? asset.alphaNum4() : asset.alphaNum12();
  return assetOf(`${named.assetCode().toString().replaceAll('\0', '')}:${accountText(named.issuer())}`);
}

/** A node refuses a transaction for this many ledgers after the one that holds it. */
const banned_ledgers = 8;

/** Only by the hash of the envelope, up to the node's progress. Later the used sequence number refuses the transaction. */
function landedLately(node: StellarNode, hash: string): boolean {
  const record = node.ledgers.find(hash)?.record;
  const age = node.latest().sequence - (record?.ledger ?? Number.POSITIVE_INFINITY);
  return record?.hash === hash && age >= 0 && age <= banned_ledgers;
}

function sendTransaction(node: StellarNode, { transaction }: Params): object {
  const submitted = read(String(transaction), node.passphrase);
  const { sequence, closedAt_s } = node.latest();
  const answer = { hash: submitted.hash, latestLedger: sequence, latestLedgerCloseTime: String(closedAt_s) };
  if (landedLately(node, submitted.hash)) return { ...answer, status: 'TRY_AGAIN_LATER' };
  const other = node.waiting.get(submitted.source);
  if (other && [other.hash, other.innerHash].includes(submitted.hash)) return { ...answer, status: 'DUPLICATE' };
  if (node.spells.has('isBusy') || (other && !outbids(submitted, other)))
    return { ...answer, status: 'TRY_AGAIN_LATER' };
  const now_s = Math.floor(node.kernel.now_ms() / 1_000);
  const problem = problemOf(submitted, entriesAt(node.ledgers, sequence), now_s);
  if (problem !== undefined) {
    const refused = refusedResult(submitted, { verdict: problem, feeCharged: feeOf(submitted) });
    return { ...answer, status: 'ERROR', errorResultXdr: base64(refused) };
  }
  if (!node.spells.has('swallows')) {
    node.waiting.set(submitted.source, submitted);
    node.tell(submitted);
  }
  return { ...answer, status: 'PENDING' };
}

function getFeeStats(node: StellarNode): object {
  const fees = Object.fromEntries(['max', 'mode', 'p50', 'p90', 'p99'].map((name) => [name, String(node.inclusion())]));
  return { sorobanInclusionFee: fees, inclusionFee: fees, latestLedger: node.latest().sequence };
}

const methods: Readonly<Record<string, Method>> = {
  getHealth: (node) => ({ status: 'healthy', ...rangeOf(node) }),
  getNetwork: ({ passphrase }) => ({ passphrase, protocolVersion: 27 }),
  getLatestLedger: (node) => ({ sequence: node.latest().sequence, protocolVersion: 27 }),
  getFeeStats,
  getTransaction,
  getTransactions,
  getEvents,
  getLedgerEntries,
  sendTransaction,
};

/** @throws NodeAway, RpcError */
export function answer(node: StellarNode, method: string, params: unknown): unknown {
  if (node.spells.has('away')) throw new NodeAway('the node is away');
  if (node.spells.has('crowded')) throw new RpcError(429, 'rate limit exceeded');
  if (node.spells.has('fails')) throw new RpcError(-32_603, 'internal error');
  const known = methods[method];
  if (!known) throw new RpcError(-32_601, `method not found: ${method}`);
  return known(node, params as Params);
}
