/** Pass one: the log in its own order; checks each event alone and stores it in its stream's order. */
import { eventCodec, linkOf } from '../../commands/codec.ts';
import { type ChainId, chains, tokenAt } from '../../domain/chains.ts';
import { categoryOf, type DomainEvent, type StoredEvent } from '../../domain/decider.ts';
import { coinAddress, coinOf } from '../../domain/money.ts';
import { categories } from '../../domain/streams.ts';
import type { Seals } from '../../src/security/masterKey.ts';
import type { FindingCode } from './findings.ts';

interface Stated {
  readonly symbol?: unknown;
  readonly address?: unknown;
  readonly decimals?: unknown;
}

/** Maximum depth of an event's data: deeper objects name no token. */
const depthMax = 6;

/**
 * Returns why a token of the event is not the catalogue's; null if each one is. An object that has a token also has the token's chain.
 * With a wrong number of decimals the same units are another amount.
 * @param chainId of the object around
 */
export function tokenMisfit(data: unknown, chainId: unknown = undefined, depth = 0): string | null {
  if (typeof data !== 'object' || data === null || depth > depthMax) return null;
  const own = (data as { readonly chainId?: unknown }).chainId ?? chainId;
  const misfit = tokenMisfitOf(data, own);
  if (misfit !== null) return misfit;
  for (const value of Object.values(data)) {
    const found = tokenMisfit(value, own, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Tokens outside the catalogue are not judged here: no chain is read for them. */
function tokenMisfitOf({ symbol, address, decimals }: Stated, chainId: unknown): string | null {
  if (typeof address !== 'string' || typeof decimals !== 'number') return null;
  const chain = chains.find(({ id }) => id === chainId);
  const known = chain && (address === coinAddress ? coinOf(chain.id as ChainId) : tokenAt(chain, address));
  if (!known || (known.symbol === symbol && known.decimals === decimals)) return null;
  return `${String(symbol)} at ${address} has ${decimals} decimals here; the catalogue has ${known.symbol} with ${known.decimals}`;
}

/** An event in the form of the later passes. */
export interface AuditEntry {
  readonly stream: string;
  readonly revision: number;
  /** Digits. */
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly prev: string | null;
  readonly link: string;
  /** True if the service wrote it. */
  readonly sealed: boolean;
  /** Problems of the event itself, independent of its stream; omitted if there are none. */
  readonly wrong?: readonly { readonly code: FindingCode; readonly message: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: readers know the category's schemas; other data is a separate finding
  readonly data: any;
}

/** Valid seals by log position, as for the service; null without a key: then only hashes are checked. */
export interface Believed {
  readonly begun: bigint;
  sealsAt(position: bigint): Seals;
}

/** Long fields that no later pass needs. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  PaymentCreated: ['display', 'metadata'],
  PayoutSigned: ['bytes', 'fee'],
  RefundSigned: ['bytes', 'fee'],
  OperationSigned: ['bytes', 'fee'],
  BatchSigned: ['bytes', 'fee'],
  UnmatchedRefundSigned: ['bytes', 'fee'],
  NonceCancelled: ['bytes', 'fee'],
  SweepSigned: ['bytes'],
  WebhookDelivered: ['responsePreview', 'request'],
  WebhookExhausted: ['responsePreview', 'request'],
};

const known: ReadonlySet<string> = new Set(categories);

/** Stream names that sort by their events' numbers. */
export const entryKey = ({ stream, revision }: Pick<AuditEntry, 'stream' | 'revision'>): string =>
  `${stream}\u0000${String(revision).padStart(12, '0')}`;

export function readEntry(stored: StoredEvent, believed: Believed | null): AuditEntry {
  const { stream, position, id, type } = stored;
  const metadata = metadataOf(stored);
  const link = linkOf({ ...stored, metadata });
  const sealed = believed === null || isSealed(link, metadata.seal, position, believed);
  const { data, misfit } = readData({ ...stored, metadata });
  const wrong = [
    ...(sealed ? [] : [{ code: 'sealWrong', message: `${type} has no seal of the service` } as const]),
    ...(misfit === null ? [] : [{ code: 'schemaWrong', message: misfit } as const]),
  ];
  const { prev, at } = metadata;
  const own = {
    stream,
    revision: Number(stored.revision),
    position: position.toString(),
    id,
    type,
    at: typeof at === 'string' ? at : '',
    prev: prev ?? null,
    link,
    sealed,
  };
  return { ...own, ...(wrong.length > 0 && { wrong }), data };
}

/** A writer of the store may have put anything there. */
const metadataOf = ({ metadata }: StoredEvent): StoredEvent['metadata'] =>
  typeof metadata === 'object' && metadata !== null ? metadata : ({ prev: null, at: '' } as StoredEvent['metadata']);

function isSealed(link: string, seal: unknown, position: bigint, { begun, sealsAt }: Believed): boolean {
  if (seal === undefined && position < begun) return true;
  return typeof seal === 'string' && sealsAt(position).isSealOf(link, seal);
}

interface ReadData {
  readonly data: object;
  /** Reason why no version of the service writes it; null if one may have. */
  readonly misfit: string | null;
}

/** In the current schema version, without long fields. Reports unreadable data. */
function readData(stored: StoredEvent): ReadData {
  const { type } = stored;
  const there = typeof stored.data === 'object' && stored.data !== null ? stored.data : {};
  const category = categoryOf(stored.stream);
  if (!known.has(category)) return { data: there, misfit: `${category} is no category of streams` };
  const { schemaVersion } = stored.metadata;
  // Older forms are upcast version by version: a huge negative number would take for ever.
  if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 1 || there !== stored.data)
    return { data: there, misfit: `${type} has no data, or is of no version` };
  try {
    const event = eventCodec.read(stored);
    if (!event) return { data: there, misfit: `${type} is no event of ${category}` };
    return { data: short(type, event.data), misfit: misfitOf(category, event) };
  } catch (error) {
    return { data: there, misfit: `${type} cannot be read: ${(error as Error).message}` };
  }
}

function misfitOf(category: string, event: DomainEvent): string | null {
  try {
    eventCodec.check(category, event);
    return tokenMisfit(event.data);
  } catch (error) {
    return (error as Error).message;
  }
}

function short(type: string, whole: object): object {
  const data = { ...whole };
  for (const name of leftOut[type] ?? []) delete (data as { [name: string]: unknown })[name];
  return data;
}

/** Checks one stream, event by event. */
export interface Reckoner {
  next(entry: AuditEntry): void;
  end(): void;
}

/** Several checks of the same stream. */
export const together = (...reckoners: readonly Reckoner[]): Reckoner => ({
  next(entry) {
    for (const reckoner of reckoners) reckoner.next(entry);
  },
  end() {
    for (const reckoner of reckoners) reckoner.end();
  },
});
