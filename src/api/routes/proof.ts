import { packOf } from '../../../commands/heads/evidence.ts';
import { isRefusal, refuse } from '../../../domain/decider.ts';
import type { HeadsEvent } from '../../../domain/heads/events.ts';
import { paymentIdIn } from '../../../queries/paymentId.ts';
import { briefly } from '../../lib/cache.ts';
import type { HttpDeps } from '../deps.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import { pageSize } from '../schemas/queries.ts';
import { PaymentPath } from '../schemas/requests.ts';
import { EvidenceResponse, HeadEntry, HeadKeysResponse, HeadPath, HeadsQuery, HeadsResponse } from './schemas_proof.ts';

const tag = 'Proof';
const base = '/payment-api/proof';
/** Who keeps a head must be able to have it from anywhere: a copy on the way does no harm, for it is signed. */
const newest = { 'Cache-Control': 'public, max-age=5' };
const forEver = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const noHead = refuse('notFound', 'no head is signed yet: try again in some minutes');
const noEntry = refuse('notFound', 'no entry has this number: the newest is at /payment-api/proof/head', '/number');
const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');

/** What anybody may keep of the log, and what an app may take with it of its payments. */
export function proofRoutes(deps: HttpDeps): readonly AnyRoute[] {
  const head = briefly(() => deps.proof.newest(), deps.clock);
  return [...heads(deps, () => head('newest')), evidence(deps)];
}

function heads({ proof }: HttpDeps, newestHead: () => Promise<HeadsEvent | null>): readonly AnyRoute[] {
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
          'The service signs the head of its event log every few minutes. Keep one: whoever holds it can prove a later change of the log.',
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

function evidence({ proof, getPayment }: HttpDeps): AnyRoute {
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
