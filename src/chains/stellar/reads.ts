/** What the adapter asks of a node, as typed values. A malformed answer counts as a failure of the node. */
import { xdr } from '@stellar/stellar-sdk';
import { type ChainNode, RpcFailed } from '../node/jsonRpc.ts';

export interface LedgerHead {
  readonly ledger: bigint;
  readonly closedAt_s: number;
}

/** What a node remembers. */
export interface LedgerRange {
  readonly oldest: LedgerHead;
  readonly latest: LedgerHead;
}

export type TransactionStatus = 'SUCCESS' | 'FAILED' | 'NOT_FOUND';

export interface FoundTransaction {
  readonly status: TransactionStatus;
  /** What the node remembered when it looked. */
  readonly range: LedgerRange;
  /** Zero when it was not found. */
  readonly ledger: bigint;
  readonly createdAt_s: number;
  readonly feeBump: boolean;
  readonly envelopeXdr: string;
  readonly resultXdr: string;
  /** Contract events of each operation, XDR in base64. */
  readonly events: readonly (readonly string[])[];
}

/** An event as getEvents tells it. */
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

/** Nobody can make a transaction with this hash. */
const noHash = '0'.repeat(64);

/** Every node answers with its range and the close times to a question for any transaction: the cheapest one. */
export const ledgerRange = async (node: ChainNode): Promise<LedgerRange> => (await transactionOf(node, noHash)).range;

/** By the transaction's own hash or by that of the one inside a fee bump. @throws RpcFailed */
export async function transactionOf(node: ChainNode, hash: string): Promise<FoundTransaction> {
  const method = 'getTransaction';
  const answer = await ask(node, method, { hash });
  const { status } = answer;
  if (status !== 'SUCCESS' && status !== 'FAILED' && status !== 'NOT_FOUND') throw malformed(node, method, 'status');
  const events = (answer['events'] as { contractEventsXdr?: string[][] } | undefined)?.contractEventsXdr ?? [];
  return {
    status,
    range: rangeOf(node, method, answer),
    ledger: status === 'NOT_FOUND' ? 0n : whole(node, method, answer['ledger']),
    createdAt_s: Number(answer['createdAt'] ?? 0),
    feeBump: answer['feeBump'] === true,
    envelopeXdr: String(answer['envelopeXdr'] ?? ''),
    resultXdr: String(answer['resultXdr'] ?? ''),
    events,
  };
}

export interface EventPage {
  readonly events: readonly RawEvent[];
  /** Where the next page begins; undefined when this one was not full. */
  readonly cursor: string | undefined;
  readonly range: LedgerRange;
}

export const pageEvents = 1_000;

/** One page, beginning at a ledger (up to `endLedger`, exclusive) or behind a cursor. Events of failed transactions are left out. */
export async function eventsPage(
  node: ChainNode,
  filters: readonly EventFilter[],
  from: { readonly startLedger: number; readonly endLedger: number } | { readonly cursor: string },
): Promise<EventPage> {
  const method = 'getEvents';
  const asked = filters.map((filter) => ({ type: 'contract', ...filter }));
  const place =
    'cursor' in from
      ? { pagination: { limit: pageEvents, cursor: from.cursor } }
      : { ...from, pagination: { limit: pageEvents } };
  const answer = await ask(node, method, { ...place, filters: asked });
  const raw = answer['events'];
  if (!Array.isArray(raw)) throw malformed(node, method, 'events');
  const cursor = raw.length >= pageEvents ? String(answer['cursor'] ?? raw.at(-1).id) : undefined;
  const events = raw.filter((event) => event.inSuccessfulContractCall !== false).map((event) => eventOf(node, event));
  return { events, cursor, range: rangeOf(node, method, answer) };
}

function eventOf(node: ChainNode, event: Record<string, unknown>): RawEvent {
  const { id, contractId, txHash, topic, value, ledgerClosedAt } = event;
  const texts = [id, contractId, txHash, value, ledgerClosedAt];
  if (!texts.every((text) => typeof text === 'string') || !Array.isArray(topic)) {
    throw malformed(node, 'getEvents', 'an event');
  }
  return {
    id: String(id),
    ledger: whole(node, 'getEvents', event['ledger']),
    closedAt: String(ledgerClosedAt),
    contractId: String(contractId),
    txHash: String(txHash),
    operation: Number(whole(node, 'getEvents', event['operationIndex'])),
    topics: topic.map(String),
    value: String(value),
  };
}

export interface Entries {
  /** By key, XDR in base64; what is not there is missing. */
  readonly found: ReadonlyMap<string, xdr.LedgerEntryData>;
  readonly latestLedger: bigint;
}

export async function ledgerEntries(node: ChainNode, keys: readonly xdr.LedgerKey[]): Promise<Entries> {
  const method = 'getLedgerEntries';
  const answer = await ask(node, method, { keys: keys.map((key) => key.toXDR('base64')) });
  const entries = (answer['entries'] ?? []) as readonly { key: string; xdr: string }[];
  try {
    return {
      found: new Map(entries.map((entry) => [entry.key, xdr.LedgerEntryData.fromXDR(entry.xdr, 'base64')])),
      latestLedger: whole(node, method, answer['latestLedger']),
    };
  } catch {
    throw malformed(node, method, 'an entry');
  }
}

export async function ask(
  node: ChainNode,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await node.request(method, params);
  if (typeof answer !== 'object' || answer === null) throw malformed(node, method, 'the answer');
  return answer as Record<string, unknown>;
}

function rangeOf(node: ChainNode, method: string, answer: Readonly<Record<string, unknown>>): LedgerRange {
  const head = (ledger: unknown, closedAt: unknown): LedgerHead => ({
    ledger: whole(node, method, ledger),
    closedAt_s: Number(whole(node, method, closedAt)),
  });
  return {
    oldest: head(answer['oldestLedger'], answer['oldestLedgerCloseTime']),
    latest: head(answer['latestLedger'], answer['latestLedgerCloseTime']),
  };
}

function whole(node: ChainNode, method: string, value: unknown): bigint {
  const text = String(value);
  if (!/^\d{1,19}$/.test(text)) throw malformed(node, method, `a number (${text.slice(0, 40)})`);
  return BigInt(text);
}

export const malformed = (node: ChainNode, method: string, what: string): RpcFailed =>
  new RpcFailed(node.name, method, 'malformed', `${what} is not as specified`);
