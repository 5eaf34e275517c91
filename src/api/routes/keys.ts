import type { Changed } from '../../../commands/manageMerchant.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { type Instant, parseInstant } from '../../../domain/time.ts';
import type { Owner } from '../callers.ts';
import type { HttpDeps } from '../deps.ts';
import { issueKey } from '../issueKey.ts';
import { type Answer, type AnyRoute, ok, route } from '../route.ts';
import { pageSize } from '../schemas/queries.ts';
import { AuditQuery, AuditResponse } from '../schemas/settings.ts';
import { actorText } from './actors.ts';
import * as schemas from './schemas_keys.ts';

const tag = 'Merchant';
const base = '/merchant-api/me';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;
const list = { 200: { description: 'The app’s keys', schema: schemas.KeysResponse } };

/** An app's API keys and its history, for its owner. */
export const keyRoutes = (deps: HttpDeps): readonly AnyRoute[] => [...issuing(deps), ...changing(deps), audit(deps)];

const issuing = (deps: HttpDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: `${base}/keys`,
    auth: 'owner',
    answers: list,
    errors,
    doc: { id: 'listKeys', tag, summary: 'List the app’s keys' },
    handle: ({ caller }) => keysOf(deps, caller),
  }),
  route({
    method: 'post',
    path: `${base}/keys`,
    auth: 'owner',
    body: schemas.KeyRequest,
    answers: { 201: { description: 'Issued', schema: schemas.NewKeyResponse } },
    errors,
    doc: {
      id: 'issueKey',
      tag,
      summary: 'Issue an API key',
      description:
        'Once this is answered, every instance accepts the key. After a 503 no key was issued: send the request again.',
    },
    async handle({ caller: { appId }, body, by }) {
      const expiresAt = readExpiry(body.expiresAt ?? null);
      if (isRefusal(expiresAt)) return expiresAt;
      const issued = await issueKey(deps, appId, { name: body.name, scope: body.scope ?? 'orders', expiresAt }, by);
      if (isRefusal(issued)) return issued;
      const { position: _, ...key } = issued;
      return { status: 201, body: key };
    },
  }),
];

function readExpiry(text: string | null): Instant | null | Refusal {
  return text === null
    ? null
    : (parseInstant(text) ?? refuse('invalidRequest', 'expiresAt must be an ISO 8601 time', '/expiresAt'));
}

const changing = (deps: HttpDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/keys/{id}/rename`,
    auth: 'owner',
    params: schemas.KeyPath,
    body: schemas.KeyNameRequest,
    answers: list,
    errors: [...errors, 'notFound'],
    doc: { id: 'renameKey', tag, summary: 'Call a key something else' },
    handle: async ({ caller, params, body, by }) =>
      keysAfter(deps, caller, await deps.merchants.renameKey(caller.appId, params.id, body.name, by)),
  }),
  route({
    method: 'post',
    path: `${base}/keys/{id}/revoke`,
    auth: 'owner',
    params: schemas.KeyPath,
    answers: list,
    errors: [...errors, 'notFound'],
    doc: {
      id: 'revokeKey',
      tag,
      summary: 'Revoke a key',
      description: 'Once this is answered, no instance accepts the key.',
    },
    handle: async ({ caller, params, by }) =>
      keysAfter(deps, caller, await deps.merchants.revokeKey(caller.appId, params.id, by)),
  }),
];

const keysAfter = async (deps: HttpDeps, caller: Owner, changed: Changed | Refusal): Promise<Answer | Refusal> =>
  isRefusal(changed) ? changed : keysOf(deps, caller);

/** From the log, which is never behind. */
async function keysOf(deps: HttpDeps, { appId, developerId }: Owner): Promise<Answer> {
  const keys = await deps.listKeys(appId);
  return ok({ data: keys.map((key) => ({ ...key, createdBy: actorText(key.createdBy, developerId) })) });
}

const audit = (deps: HttpDeps): AnyRoute =>
  route({
    method: 'get',
    path: `${base}/audit`,
    auth: 'owner',
    query: AuditQuery,
    answers: { 200: { description: 'A page of the app’s history', schema: AuditResponse } },
    errors,
    doc: { id: 'listChanges', tag, summary: 'List who changed what of the app and its links, newest first' },
    async handle({ caller: { appId, developerId }, query: { limit = pageSize, cursor } }) {
      const page = await deps.listChanges(appId, { limit, cursor });
      if (isRefusal(page)) return page;
      const { changes, nextCursor } = page;
      const data = changes.map((change) => ({ ...change, by: actorText(change.by, developerId) }));
      return ok({ data, hasMore: nextCursor !== null, nextCursor });
    },
  });
