/** Pass one: the log in its own order, each event checked by itself and put aside in its stream's order. */
import { eventCodec, linkOf } from '../../commands/codec.ts';
import { categoryOf, type StoredEvent } from '../../domain/decider.ts';
import { categories } from '../../domain/streams.ts';
import type { Seals } from '../security/seals.ts';
import type { FindingCode } from './findings.ts';

/** An event as the later passes need it. */
export interface Entry {
  readonly stream: string;
  readonly revision: number;
  /** Digits. */
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly prev: string | null;
  readonly link: string;
  /** Whether the service wrote it. */
  readonly sealed: boolean;
  /** What is wrong with it, whatever its stream says; left out where nothing is. */
  readonly wrong?: readonly { readonly code: FindingCode; readonly message: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: whoever reads it knows the category's schemas; what does not fit them is a finding of its own
  readonly data: any;
}

/** Which seals are good where: as the service believes them; null where no key is at hand, and links alone are checked. */
export interface Believed {
  readonly begun: bigint;
  sealsAt(position: bigint): Seals;
}

/** Of what no later pass needs anything, and which is long. */
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
  RefundAddressSet: ['proof'],
};

const known: ReadonlySet<string> = new Set(categories);

/** Streams that sort by their events' numbers. */
export const entryKey = ({ stream, revision }: Pick<Entry, 'stream' | 'revision'>): string =>
  `${stream}\u0000${String(revision).padStart(12, '0')}`;

export function readEntry(stored: StoredEvent, believed: Believed | null): Entry {
  const { stream, position, id, type } = stored;
  const metadata = (typeof stored.metadata === 'object' && stored.metadata) || { prev: null, at: '', seal: undefined };
  const link = linkOf({ ...stored, metadata: metadata as StoredEvent['metadata'] });
  const sealed = believed === null || isSealed(link, metadata.seal, position, believed);
  const misfit = schemaProblem(stored);
  const wrong = [
    ...(sealed ? [] : [{ code: 'sealWrong', message: `${type} has no seal of the service` } as const]),
    ...(misfit === undefined ? [] : [{ code: 'schemaWrong', message: misfit } as const]),
  ];
  const { prev, at } = metadata;
  const own = {
    stream,
    revision: Number(stored.revision),
    position: position.toString(),
    id,
    type,
    at,
    prev,
    link,
    sealed,
  };
  return { ...own, ...(wrong.length > 0 && { wrong }), data: dataOf(stored) };
}

function isSealed(link: string, seal: unknown, position: bigint, { begun, sealsAt }: Believed): boolean {
  if (seal === undefined && position < begun) return true;
  return typeof seal === 'string' && sealsAt(position).isSealOf(link, seal);
}

function schemaProblem(stored: StoredEvent): string | undefined {
  const category = categoryOf(stored.stream);
  if (!known.has(category)) return `${category} is no category of streams`;
  const event = eventCodec.read(stored);
  if (!event) return `${stored.type} is no event of ${category}`;
  try {
    eventCodec.check(category, event);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Today's form, without what is long. */
function dataOf(stored: StoredEvent): object {
  const data = { ...(eventCodec.read(stored)?.data ?? (stored.data as object)) };
  for (const name of leftOut[stored.type] ?? []) delete (data as { [name: string]: unknown })[name];
  return data;
}
