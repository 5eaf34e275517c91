/** Typed calls of the adapter to a node. A malformed answer counts as a failure of the node. */
import { xdr } from '@stellar/stellar-sdk';
import { parseInstant } from '../../../domain/time.ts';
import { ask, type ChainNode, list, object, optional, type RpcJson, seconds, text, whole } from '../node/jsonRpc.ts';

export interface LedgerHead {
  readonly ledger: bigint;
  readonly closedAt_s: number;
}

/** Ledgers that a node remembers. */
export interface LedgerRange {
  readonly oldest: LedgerHead;
  readonly latest: LedgerHead;
}

const statuses = ['SUCCESS', 'FAILED', 'NOT_FOUND'] as const;

export interface FoundTransaction {
  readonly status: (typeof statuses)[number];
  /** Range of the node at its answer. */
  readonly range: LedgerRange;
  /** Zero if it was not found. */
  readonly ledger: bigint;
  readonly createdAt_s: number;
  /** Hash of the transaction inside a fee bump, which is found by its own hash too; null for any other. */
  readonly innerHash: string | null;
  readonly envelopeXdr: string;
  /** Contract events of each operation, XDR in base64. */
  readonly events: readonly (readonly string[])[];
  /** Events of the transaction itself, including its fee, XDR in base64. */
  readonly own: readonly string[];
}

/** An event of getEvents. */
export interface RawEvent {
  readonly id: string;
  readonly ledger: bigint;
  readonly closedAt: string;
  readonly contractId: string;
  readonly txHash: string;
  /** From 0. */
  readonly operation: number;
  /** XDR in base64. */
  readonly topics: readonly string[];
  readonly value: string;
}

export interface EventFilter {
  readonly contractIds: readonly string[];
  readonly topics: readonly (readonly string[])[];
}

/** No transaction can have this hash. */
const noHash = '0'.repeat(64);

/** Every node adds its range to the answer about any transaction, including a missing one: that is the cheapest query. */
export const ledgerRange = async (node: ChainNode): Promise<LedgerRange> => (await transactionOf(node, noHash)).range;

/** By the transaction's own hash or by that of the one inside a fee bump. @throws RpcFailed */
export const transactionOf = (node: ChainNode, hash: string): Promise<FoundTransaction> =>
  ask(node, 'getTransaction', { hash }, (answer) => {
    const found = object(answer);
    const status = statuses.find((known) => known === found['status']);
    if (!status) throw new Error(`expected a status, not ${String(found['status']).slice(0, 40)}`);
    const told = optional(found['events'], object);
    const events = told?.['contractEventsXdr'];
    return {
      status,
      range: rangeIn(found),
      ledger: status === 'NOT_FOUND' ? 0n : whole(found['ledger']),
      createdAt_s: Number(found['createdAt'] ?? 0),
      innerHash: found['feeBump'] === true ? innerHashIn(text(found['resultXdr'])) : null,
      envelopeXdr: optional(found['envelopeXdr'], text) ?? '',
      events: (optional(events, list) ?? []).map((own) => (optional(own, list) ?? []).map(text)),
      own: (optional(told?.['transactionEventsXdr'], list) ?? []).map(text),
    };
  });

/**
 * The result of a fee bump begins with the fee (8 bytes), its code (4) and the hash of the transaction inside. Parsed by hand, because a
 * newer protocol may change the rest.
 */
const innerHashIn = (resultXdr: string): string => Buffer.from(resultXdr, 'base64').subarray(12, 44).toString('hex');

/** First ledger from here on with a transaction; undefined if the node knows none. @throws RpcFailed */
export const firstLedgerWithTransaction = (node: ChainNode, from: bigint): Promise<LedgerHead | undefined> =>
  ask(node, 'getTransactions', { startLedger: Number(from), pagination: { limit: 1 } }, (answer) => {
    const [first] = optional(object(answer)['transactions'], list) ?? [];
    return optional(first, (value) => headOf(object(value)['ledger'], object(value)['createdAt']));
  });

export interface EventPage {
  readonly events: readonly RawEvent[];
  /** True if the node returned nothing, not even failed transactions. */
  readonly isEmpty: boolean;
  /** Start of the next page; undefined if the node has none. */
  readonly cursor: string | undefined;
  readonly range: LedgerRange;
}

/** A page begins at a ledger and ends before `endLedger`, or follows a cursor. */
export type PageStart = { readonly startLedger: number; readonly endLedger: number } | { readonly cursor: string };

/** Parameters of `getEvents`. @param limit maximum events of the page */
export function eventsQuery(filters: readonly EventFilter[], start: PageStart, limit: number): RpcJson {
  const { cursor, ...ledgers } = 'cursor' in start ? start : { ...start, cursor: undefined };
  const pagination = { limit, ...(cursor !== undefined && { cursor }) };
  return { ...ledgers, pagination, filters: filters.map((filter) => ({ type: 'contract', ...filter })) };
}

/** One page of events, without those of failed transactions. @throws Error for an invalid answer to `eventsQuery` */
export const eventsPageIn = (answer: unknown): EventPage =>
  pageIn(answer, (event) => event['inSuccessfulContractCall'] !== false);

/** One page including failed transactions, which have paid their fees. */
export const allEventsPageIn = (answer: unknown): EventPage => pageIn(answer, () => true);

function pageIn(answer: unknown, isWanted: (event: RpcJson) => boolean): EventPage {
  const page = object(answer);
  const raw = list(page['events']).map(object);
  return {
    events: raw.filter(isWanted).map(eventOf),
    isEmpty: raw.length === 0,
    cursor: optional(page['cursor'] ?? raw.at(-1)?.['id'], text),
    range: rangeIn(page),
  };
}

const eventOf = (event: RpcJson): RawEvent => ({
  id: text(event['id']),
  ledger: whole(event['ledger']),
  closedAt: timeIn(event['ledgerClosedAt']),
  contractId: text(event['contractId']),
  txHash: text(event['txHash']),
  operation: Number(whole(event['operationIndex'])),
  topics: list(event['topic']).map(text),
  value: text(event['value']),
});

function timeIn(value: unknown): string {
  const closedAt = text(value);
  if (parseInstant(closedAt)) return closedAt;
  throw new Error(`expected a time, not ${closedAt.slice(0, 40)}`);
}

export interface LedgerEntries {
  /** By key, XDR in base64; missing entries are omitted. */
  readonly found: ReadonlyMap<string, xdr.LedgerEntryData>;
  /** Ledger of each entry's last change, by key; omitted where a node does not state it. */
  readonly changedIn: ReadonlyMap<string, bigint>;
  readonly latestLedger: bigint;
}

/** @throws RpcFailed */
export const ledgerEntries = (node: ChainNode, keys: readonly xdr.LedgerKey[]): Promise<LedgerEntries> =>
  ask(node, 'getLedgerEntries', { keys: keys.map((key) => key.toXDR('base64')) }, (answer) => {
    const { entries, latestLedger } = object(answer);
    const all = (optional(entries, list) ?? []).map(object);
    const changed = all.flatMap(({ key, lastModifiedLedgerSeq }) =>
      lastModifiedLedgerSeq === undefined ? [] : [[text(key), whole(lastModifiedLedgerSeq)] as const],
    );
    return {
      found: new Map(
        all.map(({ key, xdr: data }) => [text(key), xdr.LedgerEntryData.fromXDR(text(data), 'base64')] as const),
      ),
      changedIn: new Map(changed),
      latestLedger: whole(latestLedger),
    };
  });

function rangeIn(answer: RpcJson): LedgerRange {
  const { oldestLedger, oldestLedgerCloseTime, latestLedger, latestLedgerCloseTime } = answer;
  if (oldestLedger === undefined || latestLedgerCloseTime === undefined)
    throw new Error('it does not say which ledgers it remembers: Stellar RPC 23 or later does');
  return { oldest: headOf(oldestLedger, oldestLedgerCloseTime), latest: headOf(latestLedger, latestLedgerCloseTime) };
}

const headOf = (ledger: unknown, closedAt: unknown): LedgerHead => ({
  ledger: whole(ledger),
  closedAt_s: seconds(whole(closedAt)),
});
