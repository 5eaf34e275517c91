import Type from 'typebox';
import { type FindEvidence, packOf } from '../../../commands/heads/evidence.ts';
import type { HeadKeySince } from '../../../commands/heads/sign.ts';
import type { Clock } from '../../../commands/ports.ts';
import { isRefusal, refuse } from '../../../domain/decider.ts';
import type { HeadsEvent } from '../../../domain/heads/heads.ts';
import { paymentIdIn } from '../../../queries/payments.ts';
import { ttlCache } from '../../lib/cache.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import { closed, oneOf, Time } from '../schemas/base.ts';
import { limit, pageSize } from '../schemas/queries.ts';
import { PaymentPath } from '../schemas/requests.ts';
import type { PaymentReads } from './payments.ts';

/** Signed heads of the log, and evidence of payments. */
const { Array: List, Object: Shape, Optional } = Type;

const EntryNumber = Type.Integer({ minimum: 1 });
const Hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$` });
const HexOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const Count = Type.String({ pattern: '^[0-9]{1,20}$' });

/** As stored: an auditor recomputes its text from these fields. */
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

/** No pattern: a malformed number is answered like an unknown entry. */
export const HeadPath = Shape({ number: Type.String({ description: 'The entry’s number.' }) }, closed);

export const HeadKeysResponse = Shape(
  {
    data: List(
      Shape(
        {
          publicKey: Hex(32),
          /** Entry that introduced the key. */
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
          description: 'data and metadata are the stored JSON, which the hash covers.',
        },
      ),
    ),
    way: List(Hex(32)),
    head: HeadEntry,
  },
  { title: 'EvidenceResponse', description: 'Keep the bytes of the answer unchanged: they are verified.' },
);

const tag = 'Proof';
const base = '/payment-api/proof';
/** Anyone may cache heads: a head is signed, so a copy does no harm. */
const newest = { 'Cache-Control': 'public, max-age=5' };
const forEver = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const noHead = refuse('notFound', 'no log head is signed yet: try again in a few minutes');
const noEntry = refuse('notFound', 'no entry has this number: the newest is at /payment-api/proof/head', '/number');
const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');

/** Signed heads of the log. */
export interface ProofDeps {
  /** Null before the first head. @throws Unavailable */
  readonly newest: () => Promise<HeadsEvent | null>;
  /** Entries from a number on, oldest first. @throws Unavailable */
  readonly entries: (from: number, max: number) => Promise<readonly HeadsEvent[]>;
  readonly keys: () => Promise<readonly HeadKeySince[]>;
  readonly evidence: FindEvidence;
}

/** Needs of the routes of the signed log head. */
export interface ProofRoutesDeps extends Pick<PaymentReads, 'getPayment'> {
  readonly proof: ProofDeps;
  readonly clock: Pick<Clock, 'now'>;
}

/** Public log heads, and evidence of an app's payments. */
export function proofRoutes(deps: ProofRoutesDeps): readonly AnyRoute[] {
  const head = ttlCache(() => deps.proof.newest(), deps.clock);
  return [...heads(deps, () => head('newest')), evidence(deps)];
}

function heads({ proof }: ProofRoutesDeps, newestHead: () => Promise<HeadsEvent | null>): readonly AnyRoute[] {
  const common = { method: 'get', auth: 'optional', anyOrigin: true } as const;
  return [
    route({
      ...common,
      path: `${base}/head`,
      answers: { 200: { description: 'The newest entry', schema: HeadEntry } },
      errors: ['notFound', 'unauthenticated'],
      doc: {
        id: 'getHead',
        tag,
        summary: 'Get the newest signed head of the log',
        description:
          'The service signs the head of its event log every few minutes. Keep one: every holder can prove a later change of the log.',
      },
      async handle() {
        const entry = await newestHead();
        return entry ? ok(entry, newest) : noHead;
      },
    }),
    route({
      ...common,
      path: `${base}/heads`,
      query: HeadsQuery,
      answers: { 200: { description: 'Entries behind a number', schema: HeadsResponse } },
      errors: ['invalidRequest', 'unauthenticated'],
      doc: {
        id: 'listHeads',
        tag,
        summary: 'List signed heads, oldest first',
        description:
          'Entries are numbered from 1 without a gap, and each names its predecessor. Send the last number as after to read on.',
      },
      async handle({ query: { after = 0, limit = pageSize } }) {
        const entries = await proof.entries(after + 1, limit + 1);
        return ok({ data: entries.slice(0, limit), hasMore: entries.length > limit }, newest);
      },
    }),
    route({
      ...common,
      path: `${base}/heads/{number}`,
      params: HeadPath,
      answers: { 200: { description: 'The entry', schema: HeadEntry } },
      errors: ['notFound', 'unauthenticated'],
      doc: {
        id: 'getHeadByNumber',
        tag,
        summary: 'Get a signed head by its number',
        description: 'An entry never changes once it is published.',
      },
      async handle({ params }) {
        const number = /^[1-9][0-9]{0,9}$/.test(params.number) ? Number(params.number) : null;
        const [entry] = number === null ? [] : await proof.entries(number, 1);
        return entry ? ok(entry, forEver) : noEntry;
      },
    }),
    route({
      ...common,
      path: `${base}/keys`,
      answers: { 200: { description: 'Public keys', schema: HeadKeysResponse } },
      errors: ['unauthenticated'],
      doc: {
        id: 'listHeadKeys',
        tag,
        summary: 'List the keys that heads were signed with',
        description: 'Public keys, each with the number of the first entry that it signed.',
      },
      handle: async () => ok({ data: await proof.keys() }, newest),
    }),
  ];
}

function evidence({ proof, getPayment }: ProofRoutesDeps): AnyRoute {
  return route({
    method: 'get',
    path: '/payment-api/payments/{id}/evidence',
    auth: 'orders',
    params: PaymentPath,
    answers: { 200: { description: 'An evidence pack', schema: EvidenceResponse } },
    errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound', 'notFound'],
    doc: {
      id: 'getEvidence',
      tag,
      summary: 'Take evidence of a payment',
      description:
        'Its events up to the newest signed head, which clients/verify/verify-evidence.mjs checks offline. It holds the metadata that the payment was created with.',
    },
    async handle({ caller, params }) {
      const paymentId = paymentIdIn(params.id);
      const view = paymentId === undefined ? null : await getPayment(paymentId);
      if (view?.appId !== caller.appId) return noPayment;
      const proven = await proof.evidence(`payment-${view.paymentId}`);
      if (isRefusal(proven)) return proven;
      return { status: 200, body: packOf(proven), type: 'application/json; charset=utf-8' };
    },
  });
}
