/** One stream, event by event, with the changes of each. */
import { ChainBroken, type Codec, linkOf, type Tip, tipOf, verifyChain } from '../../commands/codec.ts';
import { type EventStore, knownEvent } from '../../commands/ports.ts';
import { type AsOf, upTo } from '../../domain/asOf.ts';
import { categoryOf, type Decider, type StoredEvent } from '../../domain/decider.ts';
import { type Category, streams } from '../../domain/streams.ts';

export interface StreamStep {
  readonly stored: StoredEvent;
  /** Hash that the next event holds of it. */
  readonly link: string;
  /** False for an event of a type that this version does not know: it changes nothing. */
  readonly known: boolean;
  readonly changes: readonly LeafChange[];
  /** State after the event as JSON: big numbers are texts, and secrets are omitted. */
  readonly state: ReplayedJson;
}

/** Null: absent. */
export interface LeafChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type ReplayedJson =
  | string
  | number
  | boolean
  | null
  | readonly ReplayedJson[]
  | { readonly [name: string]: ReplayedJson };

const pageSize = 500;

interface Deps {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

/**
 * Page by page, with its hash chain checked: even of a long stream only a page and one state are in memory.
 * @param until null for the whole stream
 * @throws ChainBroken, Unavailable; Error for a name of no category
 */
export async function* replayStream(
  { store, codec }: Deps,
  stream: string,
  until: AsOf | null,
): AsyncGenerator<StreamStep> {
  const decider = deciderOf(stream);
  let [state, plain, tip]: [unknown, ReplayedJson, Tip | null] = [decider.initial, plainOf(decider.initial), null];
  for (;;) {
    const page = await store.read(stream, { from: (tip?.revision ?? -1n) + 1n, max: pageSize });
    const broken = verifyChain(page, tip);
    if (broken) throw new ChainBroken(broken);
    const wanted = until ? upTo(page, until) : page;
    for (const stored of wanted) {
      const event = knownEvent(stored, codec.read);
      if (event) state = decider.evolve(state, event as never);
      const next: ReplayedJson = event ? plainOf(state) : plain;
      yield { stored, link: linkOf(stored), known: event !== undefined, changes: changesOf(plain, next), state: next };
      plain = next;
    }
    const last = page.at(-1);
    if (!last || wanted.length < page.length || page.length < pageSize) return;
    tip = tipOf(last);
  }
}

function deciderOf(stream: string): Decider<unknown, never> {
  const category = categoryOf(stream);
  if (!Object.hasOwn(streams, category) || stream === category)
    throw new Error(
      `${stream} is no stream's name: it is <category>-<id>, with one of ${Object.keys(streams).join(', ')}`,
    );
  return streams[category as Category].decider;
}

/** Secret fields, encrypted or not: the output may be seen by others. */
const secret = /^(idSalt|webhookSecret|ciphertext|formerKeys)$/;
const hidden = '(a secret)';

const plainOf = (state: unknown): ReplayedJson =>
  JSON.parse(
    JSON.stringify(state, (name, value: unknown) => {
      if (value !== null && secret.test(name)) return hidden;
      if (typeof value === 'bigint') return value.toString();
      if (value instanceof Map) return Object.fromEntries(value);
      return value instanceof Set ? [...value] : value;
    }) ?? 'null',
  );

function changesOf(before: ReplayedJson, after: ReplayedJson): readonly LeafChange[] {
  const [was, is] = [leaves(before), leaves(after)];
  const fields = [...new Set([...was.keys(), ...is.keys()])];
  return fields.flatMap((field) => {
    const change = { field, before: was.get(field) ?? null, after: is.get(field) ?? null };
    return change.before === change.after ? [] : [change];
  });
}

/** Leaf values with paths like `payins[0].phase`. An empty container counts as a leaf. */
function leaves(value: ReplayedJson, path = '', into = new Map<string, string>()): ReadonlyMap<string, string> {
  if (value === null) return into;
  if (typeof value !== 'object') return into.set(path, String(value));
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : path === '' ? name : `.${name}`;
    leaves(inner as ReplayedJson, `${path}${step}`, into);
  }
  return into;
}
