/** Results of a client in a form that is comparable between two stores. */
import type { ResolvedEvent } from '@eventstore/db-client';
import type { StoredEvent } from '../../../domain/decider.ts';

/** An event as a client gets it, without the time of its writing. */
export interface Seen {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: unknown;
}

const plain = (content: unknown): unknown =>
  content instanceof Uint8Array ? `bytes ${Buffer.from(content).toString('hex')}` : (content ?? 'none');

export function seenBy({ event }: ResolvedEvent): Seen {
  if (!event) throw new Error('a read without links returned no event');
  const { streamId, revision, position, id, type, data, metadata } = event;
  return {
    stream: streamId,
    revision,
    position: position?.commit ?? -1n,
    id,
    type,
    data: plain(data),
    metadata: plain(metadata),
  };
}

export const seenByProduct = ({ data, metadata, ...event }: StoredEvent): Seen => ({
  ...event,
  data: plain(data),
  metadata: plain(metadata),
});

/** A message of a subscription. */
export type Said = Seen | 'caughtUp' | { readonly failed: unknown } | { readonly wrong: string };

export const isSeen = (said: Said): said is Seen => typeof said === 'object' && 'stream' in said;

/** Outcome of a call: its answer, or the type of its refusal with all that the refusal states. */
export async function outcomeOf<T>(call: Promise<T>): Promise<T | { readonly refused: unknown }> {
  try {
    return await call;
  } catch (error) {
    return { refused: refusal(error) };
  }
}

function refusal(error: unknown): unknown {
  const { name, type, code, expectedVersion, actualVersion, expected, actual } = error as Record<string, unknown>;
  return {
    name: type ?? name,
    code: typeof code === 'number' ? code : undefined,
    expectedVersion,
    actualVersion,
    expected,
    actual,
  };
}
