/** Signed heads of the log, and evidence of payments. */
import Type from 'typebox';
import { closed, oneOf, Time } from '../schemas/base.ts';
import { limit } from '../schemas/queries.ts';

const { Array: List, Object: Shape, Optional } = Type;

const EntryNumber = Type.Integer({ minimum: 1 });
const Hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$` });
const HexOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const Count = Type.String({ pattern: '^[0-9]{1,20}$' });

/** As it is stored: whoever checks it writes its text again from these fields. */
export const HeadEntry = Shape(
  {
    type: oneOf(['HeadSigned', 'HeadKeyChanged', 'HeadKeyLost', 'HeadAnchored'], { title: 'HeadEntryType' }),
    data: Shape(
      {
        number: EntryNumber,
        position: Count,
        previous: HexOrNull,
        publicKey: Hex(32),
        signature: Hex(64),
        until: Optional(Time),
        events: Optional(Count),
        streams: Optional(Count),
        categories: Optional(List(Type.String())),
        root: Optional(Hex(32)),
        keySince: Optional(EntryNumber),
        formerKey: Optional(Hex(32)),
        formerSignature: Optional(Hex(64)),
        reason: Optional(Type.String()),
        head: Optional(EntryNumber),
        headHash: Optional(Hex(32)),
        chainId: Optional(Type.Integer()),
        account: Optional(Type.String()),
        transaction: Optional(Type.String()),
        ledger: Optional(Count),
      },
      { title: 'HeadEntryData' },
    ),
  },
  {
    title: 'HeadEntry',
    description:
      'HeadSigned: one root over all streams of the log up to a position. HeadKeyChanged, HeadKeyLost: from here on another key signs. HeadAnchored: the hash of that head is the memo of a transaction.',
  },
);

export const HeadsQuery = Shape(
  {
    after: Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'the number of an entry' }),
    ),
    limit: limit('entries'),
  },
  closed,
);

export const HeadsResponse = Shape({ data: List(HeadEntry), hasMore: Type.Boolean() }, { title: 'HeadsResponse' });

/** No pattern: a text that is no number is answered like a number that no entry has. */
export const HeadPath = Shape({ number: Type.String({ description: 'The entry’s number.' }) }, closed);

export const HeadKeysResponse = Shape(
  {
    data: List(
      Shape(
        {
          publicKey: Hex(32),
          /** The entry that brought it. */
          since: EntryNumber,
        },
        { title: 'HeadKey' },
      ),
    ),
  },
  { title: 'HeadKeysResponse', description: 'Newest first; the first one signs now.' },
);

export const EvidenceResponse = Shape(
  {
    format: Type.String(),
    stream: Type.String(),
    events: List(
      Shape(
        { id: Type.String(), type: Type.String(), data: Type.String(), metadata: Type.String() },
        {
          title: 'EvidenceEvent',
          description: 'data and metadata are JSON as the store has it, which the hash is over.',
        },
      ),
    ),
    way: List(Hex(32)),
    head: HeadEntry,
  },
  { title: 'EvidenceResponse', description: 'Keep the answer byte by byte: it is checked so.' },
);
