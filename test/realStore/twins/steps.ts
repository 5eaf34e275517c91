/** Steps of a sequence as data: both twins perform the same steps. */
import fc from 'fast-check';

/** An exact revision is given as the distance to the last one that the sequence knows of. */
export type Expected = 'any' | 'no_stream' | 'stream_exists' | { readonly offset: number };

/** Number of a stream of the sequence, below `streamCount`. */
export type StreamNumber = number;
export const streamCount = 3;

export interface AppendStep {
  readonly kind: 'append';
  readonly stream: StreamNumber;
  readonly expected: Expected;
  /** How many new events. */
  readonly count: number;
  readonly binary: boolean;
}

/** Appends events of an earlier append once more: all of them, some of them, or with new ones behind. */
export interface RepeatStep {
  readonly kind: 'repeat';
  /** Which of the earlier appends, modulo their number. */
  readonly which: number;
  readonly skipped: number;
  readonly kept: number;
  readonly added: number;
  readonly expected: Expected | 'same';
  readonly stream: StreamNumber | 'same';
}

/** Place in the whole log: the position of an event of this sequence, counted modulo their number, or an edge of the log. */
export type Place = 'start' | 'end' | { readonly known: number };

/** Prefixes that match one stream, two, the metadata streams, or nothing. */
export const prefixKinds = ['one', 'two', 'all', 'metadata', 'none'] as const;
export type PrefixKind = (typeof prefixKinds)[number];

export type Metadata =
  | { readonly maxCount: number }
  | { readonly truncateBefore: number }
  | { readonly maxAge: number }
  | { readonly custom: string };

export type Step =
  | AppendStep
  | RepeatStep
  | { readonly kind: 'together'; readonly appends: readonly Omit<AppendStep, 'kind' | 'binary'>[] }
  | {
      readonly kind: 'readStream';
      readonly stream: StreamNumber;
      readonly from: 'start' | 'end' | number;
      readonly backwards: boolean;
      readonly max: number;
    }
  | { readonly kind: 'readAll'; readonly from: Place; readonly backwards: boolean; readonly max: number }
  | {
      readonly kind: 'follow';
      readonly from: Place;
      /** Null without a filter. */
      readonly prefixes: readonly PrefixKind[] | null;
      readonly window: number;
    }
  | { readonly kind: 'followStream'; readonly stream: StreamNumber; readonly from: 'start' | 'end' | number }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: StreamNumber; readonly expected: Expected }
  | { readonly kind: 'setMetadata'; readonly stream: StreamNumber; readonly metadata: Metadata }
  | { readonly kind: 'getMetadata'; readonly stream: StreamNumber };

/** Through which client a sequence is performed. */
export type ClientKind = 'official' | 'product';

export interface Sequence {
  readonly client: ClientKind;
  readonly steps: readonly Step[];
}

const stream = fc.nat({ max: streamCount - 1 });
const offset = fc.integer({ min: -4, max: 3 }).map((distance) => ({ offset: distance }));
const atEnd = fc.constant({ offset: 0 });
const expected: fc.Arbitrary<Expected> = fc.oneof(
  { weight: 3, arbitrary: atEnd },
  { weight: 2, arbitrary: fc.constantFrom('any', 'no_stream', 'stream_exists') },
  { weight: 2, arbitrary: offset },
);
const count = fc.integer({ min: 1, max: 4 });
const edge = fc.oneof(fc.constantFrom('start', 'end'), fc.nat({ max: 8 }));
const known = fc.record({ known: fc.nat({ max: 40 }) });

const append = fc.record({ kind: fc.constant('append'), stream, expected, count, binary: fc.boolean() });
const repeat = fc.record({
  kind: fc.constant('repeat'),
  which: fc.nat({ max: 10 }),
  skipped: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constant(1)),
  kept: fc.integer({ min: 1, max: 4 }),
  added: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constant(1)),
  expected: fc.oneof({ weight: 3, arbitrary: fc.constant('same') }, expected),
  stream: fc.oneof({ weight: 4, arbitrary: fc.constant('same') }, stream),
});
const together = fc.record({
  kind: fc.constant('together'),
  appends: fc.array(fc.record({ stream, expected, count }), { minLength: 2, maxLength: 6 }),
});
const readStream = fc.record({
  kind: fc.constant('readStream'),
  stream,
  from: edge,
  backwards: fc.boolean(),
  max: fc.integer({ min: 1, max: 9 }),
});
const readAll = fc.record({
  kind: fc.constant('readAll'),
  from: fc.oneof({ weight: 4, arbitrary: known }, fc.constant('end')),
  backwards: fc.boolean(),
  max: fc.integer({ min: 1, max: 9 }),
});
const behind = { weight: 8, arbitrary: known };
const live = { weight: 2, arbitrary: fc.constant('end') };
const window = fc.integer({ min: 1, max: 40 });
const filtered = fc.record({
  kind: fc.constant('follow'),
  from: fc.oneof(behind, live, { weight: 1, arbitrary: fc.constant('start') }),
  prefixes: fc.uniqueArray(fc.constantFrom(...prefixKinds), { minLength: 1, maxLength: 2 }),
  window,
});
/** Never from the start: it would get the events of all sequences before. */
const unfiltered = fc.record({
  kind: fc.constant('follow'),
  from: fc.oneof(behind, live),
  prefixes: fc.constant(null),
  window,
});
const follow = fc.oneof({ weight: 4, arbitrary: filtered }, unfiltered);
const followStream = fc.record({ kind: fc.constant('followStream'), stream, from: edge });
const remove = fc.record({ kind: fc.constant('delete'), stream, expected });
const tombstone = fc.record({ kind: fc.constant('tombstone'), stream, expected });
const setMetadata = fc.record({
  kind: fc.constant('setMetadata'),
  stream,
  metadata: fc.oneof(
    fc.record({ maxCount: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ truncateBefore: fc.nat({ max: 6 }) }),
    fc.constant({ maxAge: 86_400 }),
    fc.record({ custom: fc.constantFrom('a', 'ü') }),
  ),
});
const getMetadata = fc.record({ kind: fc.constant('getMetadata'), stream });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: append },
  { weight: 5, arbitrary: repeat },
  { weight: 2, arbitrary: together },
  { weight: 4, arbitrary: readStream },
  { weight: 4, arbitrary: readAll },
  { weight: 3, arbitrary: follow },
  { weight: 1, arbitrary: followStream },
  { weight: 2, arbitrary: remove },
  { weight: 1, arbitrary: tombstone },
  { weight: 2, arbitrary: setMetadata },
  { weight: 1, arbitrary: getMetadata },
) as fc.Arbitrary<Step>;

export const sequence: fc.Arbitrary<Sequence> = fc.record({
  client: fc.constantFrom('official', 'product'),
  steps: fc.array(step, { minLength: 3, maxLength: 16 }),
});

/** Restarts between the steps of sequences that take turns, each before the step of that number. */
export interface RestartedSequences {
  readonly sequences: readonly Sequence[];
  readonly restarts: readonly { readonly before: number; readonly signal: 'SIGTERM' | 'SIGKILL' }[];
}

const restart = fc.record({ before: fc.nat({ max: 15 }), signal: fc.constantFrom('SIGTERM', 'SIGKILL') });

export const restartedSequences = (sequenceCount: number): fc.Arbitrary<RestartedSequences> =>
  fc.record({
    sequences: fc.array(sequence, { minLength: sequenceCount, maxLength: sequenceCount }),
    restarts: fc.array(restart, { minLength: 1, maxLength: 4 }),
  });
