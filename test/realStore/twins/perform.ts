/** Performs the steps of one sequence on one twin, and writes down what its client sees. */
import { randomUUID } from 'node:crypto';
import type { Position } from '@eventstore/db-client';
import { within } from '../../../src/store/read.ts';
import { list } from '../../store/node/official.ts';
import { patience_ms } from '../../support/patience.ts';
import type { Clients, ExpectedRevision, Proposed, TwinClient } from './clients.ts';
import { isSeen, outcomeOf, type Said, type Seen, seenBy } from './seen.ts';
import type { AppendStep, ClientKind, Expected, Place, PrefixKind, RepeatStep, Step, StreamNumber } from './steps.ts';

/** Ids of a sequence's events, the same on both twins. */
export interface EventIds {
  id(number: number): string;
  number(id: string): number | undefined;
}

export function eventIds(): EventIds {
  const ids: string[] = [];
  const numbers = new Map<string, number>();
  return {
    id(number) {
      while (ids.length <= number) {
        const id = randomUUID();
        numbers.set(id, ids.length);
        ids.push(id);
      }
      return ids[number] as string;
    },
    number: (id) => numbers.get(id),
  };
}

export interface Performer {
  /** Performs a step and remembers what the client saw. */
  perform(step: Step): Promise<void>;
  /** Results of each step, and at the end the order of the sequence's events, as lines that can be compared. */
  finish(): Promise<readonly string[]>;
}

interface Appending {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly Proposed[];
}

const pageSize = 500;

/** @param prefix of the streams' names: nobody else's names begin with it */
export function createPerformer(clients: Clients, kind: ClientKind, prefix: string, ids: EventIds): Performer {
  const client: TwinClient = clients.as(kind);
  const observed: unknown[] = [];
  const appends: Appending[] = [];
  const lasts = new Map<string, bigint>();
  const softDeleted = new Set<string>();
  const tombstoned = new Set<string>();
  const positions: bigint[] = [];
  let events = 0;

  const streamOf = (number: StreamNumber): string => (number === 2 ? `${prefix}b-2` : `${prefix}a-${number}`);
  const marker = `${prefix}m-0`;
  const isOwn = (stream: string): boolean => stream.startsWith(prefix) || stream.startsWith(`$$${prefix}`);
  const fresh = (binary = false): Proposed => ({ id: ids.id(events), binary, n: events++ });
  const freshOnes = (count: number, binary?: boolean): Proposed[] => Array.from({ length: count }, () => fresh(binary));

  const eventLine = ({ stream, revision, position, id, ...content }: Seen) => ({
    event: `${stream.replace(prefix, '')}@${revision}`,
    id: ids.number(id) ?? 'of the server',
    ...content,
    position,
  });
  const saidLine = (said: Said): unknown => (isSeen(said) ? eventLine(said) : said);
  const ownOf = (seen: readonly Seen[]): unknown[] => seen.filter(({ stream }) => isOwn(stream)).map(eventLine);

  function exact(expected: Expected, stream: string): ExpectedRevision {
    if (typeof expected === 'string') return expected;
    const revision = (lasts.get(stream) ?? -1n) + BigInt(expected.offset);
    return revision < 0n ? 'no_stream' : revision;
  }

  async function append(appending: Appending): Promise<unknown> {
    appends.push(appending);
    const { stream, expected } = appending;
    const answer = await outcomeOf(client.append(stream, expected, appending.events));
    if ('revision' in answer) {
      lasts.set(stream, answer.revision);
      know(answer.position);
      await revive(stream);
    }
    return answer;
  }

  /** The real server shows the metadata that brings a soft-deleted stream back a moment after its answer: with the next append at the latest. */
  async function revive(stream: string): Promise<void> {
    if (softDeleted.delete(stream)) await pass();
  }

  /** Everything that was appended before is visible afterwards. */
  async function pass(): Promise<void> {
    const { position } = await client.append(marker, 'any', [fresh()]);
    know(position);
  }

  function know(position: bigint | null | undefined): void {
    if (position !== null && position !== undefined) positions.push(position);
  }

  const newAppend = ({ stream, expected, count, binary }: Omit<AppendStep, 'kind'>): Appending => ({
    stream: streamOf(stream),
    expected: exact(expected, streamOf(stream)),
    events: freshOnes(count, binary),
  });

  /** The product's adapter expects exact revisions alone. Appends over another connection would come in another order. */
  const sideBySide = ({ expected, ...step }: Omit<AppendStep, 'kind' | 'binary'>): Appending =>
    newAppend({
      ...step,
      expected: kind === 'product' && typeof expected === 'string' ? { offset: 0 } : expected,
      binary: false,
    });

  function repetition(step: RepeatStep): Appending {
    const earlier = appends[step.which % Math.max(1, appends.length)];
    if (!earlier) return newAppend({ stream: 0, expected: 'any', count: 1, binary: false });
    const kept = earlier.events.slice(step.skipped, step.skipped + step.kept);
    const stream = step.stream === 'same' ? earlier.stream : streamOf(step.stream);
    return {
      stream,
      expected: step.expected === 'same' ? earlier.expected : exact(step.expected, stream),
      events: [...(kept.length > 0 ? kept : earlier.events), ...freshOnes(step.added)],
    };
  }

  function placeOf(place: Place): 'start' | 'end' | bigint {
    if (typeof place === 'string') return place;
    const position = positions.toSorted(ascending)[place.known % Math.max(1, positions.length)];
    return position ?? 'end';
  }

  /** At most the last revision: a subscription gets only events behind its start, and one of these is waited for. */
  function startIn(stream: string, from: 'start' | 'end' | number): 'start' | 'end' | number {
    const last = lasts.get(stream);
    if (typeof from === 'string') return from;
    return last === undefined ? 'start' : Math.min(from, Number(last));
  }

  const prefixOf = (of: PrefixKind): string =>
    ({ one: `${prefix}a-0`, two: `${prefix}a-`, all: prefix, metadata: `$$${prefix}`, none: `none${prefix}` })[of];

  /** Events that are appended during a live subscription: one in a stream of the sequence, and the last one, which ends the wait. */
  async function appendLive(last: Proposed): Promise<unknown[]> {
    const one = { stream: streamOf(0), expected: 'any' as const, events: [fresh()] };
    return [await append(one), await append({ stream: marker, expected: 'any', events: [last] })];
  }

  async function readAll(from: 'start' | 'end' | bigint, backwards: boolean, max: number): Promise<Seen[]> {
    const direction = backwards ? ('backwards' as const) : ('forwards' as const);
    const reading = clients.official().readAll({ fromPosition: positionOf(from), direction, maxCount: max });
    return (await list(reading)).map(seenBy);
  }

  async function act(step: Step): Promise<unknown> {
    const official = clients.official();
    switch (step.kind) {
      case 'append':
        return append(newAppend(step));
      case 'repeat':
        return append(repetition(step));
      case 'together':
        await clients.appending();
        return Promise.all(step.appends.map(sideBySide).map(append));
      case 'readStream':
        return outcomeOf(client.readStream(streamOf(step.stream), step).then((seen) => seen.map(eventLine)));
      case 'readAll':
        return outcomeOf(readAll(placeOf(step.from), step.backwards, step.max).then(ownOf));
      case 'follow': {
        const last = fresh();
        const live: unknown[] = [];
        const said = await client.follow(
          {
            stream: null,
            after: placeOf(step.from),
            prefixes: step.prefixes && [...step.prefixes.map(prefixOf), marker],
            window: step.window,
          },
          { caughtUp: async () => live.push(await appendLive(last)), isLast: ({ id }) => id === last.id },
        );
        return { said: said.filter((each) => !isSeen(each) || isOwn(each.stream)).map(saidLine), live };
      }
      case 'followStream': {
        const last = fresh();
        const stream = streamOf(step.stream);
        const live: unknown[] = [];
        const from = startIn(stream, step.from);
        const said = await client.follow(
          { stream, from },
          {
            caughtUp: async () => live.push(await append({ stream, expected: 'any', events: [last] })),
            isLast: ({ id }) => id === last.id,
          },
        );
        return { said: said.map(saidLine), live };
      }
      case 'delete':
      case 'tombstone': {
        const stream = streamOf(step.stream);
        const expected = exact(step.expected, stream);
        // The official client's deletions know no `stream_exists`.
        const options = { expectedRevision: expected === 'stream_exists' ? ('any' as const) : expected };
        const call =
          step.kind === 'delete' ? official.deleteStream(stream, options) : official.tombstoneStream(stream, options);
        const answer = await outcomeOf(call);
        if (!('position' in answer)) return answer;
        know(answer.position?.commit);
        (step.kind === 'delete' ? softDeleted : tombstoned).add(stream);
        return { position: answer.position?.commit };
      }
      case 'setMetadata': {
        const stream = streamOf(step.stream);
        // The real server accepts metadata of a tombstoned stream that has had some before.
        if (tombstoned.has(stream)) return 'not performed';
        const answer = await outcomeOf(official.setStreamMetadata(stream, step.metadata));
        if (!('position' in answer)) return answer;
        know(answer.position?.commit);
        await revive(stream);
        return { revision: answer.nextExpectedRevision, position: answer.position?.commit };
      }
      case 'getMetadata':
        return outcomeOf(official.getStreamMetadata(streamOf(step.stream)).then(({ metadata }) => metadata ?? 'none'));
    }
  }

  /** All own events, in the order of the log. */
  async function scan(): Promise<Seen[]> {
    const [first] = positions.toSorted(ascending);
    const own: Seen[] = [];
    for (let from = first; from !== undefined; ) {
      const page = await readAll(from, false, pageSize);
      own.push(...page.filter(({ stream }) => isOwn(stream)));
      const last = page.at(-1)?.position;
      from = page.length < pageSize || last === undefined ? undefined : last;
      if (from !== undefined) own.splice(own.findIndex(({ position }) => position === from) >>> 0);
    }
    return own;
  }

  return {
    async perform(step) {
      observed.push({
        step,
        saw: await within(act(step), patience_ms, `${kind} on ${clients.twin.name}: ${JSON.stringify(step)}`),
      });
    },
    async finish() {
      await pass();
      const order = await scan();
      observed.push({ order: order.map(eventLine) });
      const isAscending = order.every(({ position }, i) => i === 0 || position > (order[i - 1] as Seen).position);
      if (!isAscending) observed.push('the positions of the log do not ascend');
      const names = new Map(order.map((seen) => [seen.position, eventLine(seen).event]));
      return observed.map((each) => line(each, names));
    },
  };
}

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const positionOf = (place: 'start' | 'end' | bigint): 'start' | 'end' | Position =>
  typeof place === 'bigint' ? { commit: place, prepare: place } : place;

/** Positions are numbers of one log alone: a line names the event that is there. */
const line = (observed: unknown, names: ReadonlyMap<bigint, string>): string =>
  JSON.stringify(observed, (key, value) => {
    if (typeof value !== 'bigint') return value;
    return key === 'position' ? `of ${names.get(value) ?? 'no own event'}` : `${value}n`;
  });
