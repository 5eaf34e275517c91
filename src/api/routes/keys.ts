import Type from 'typebox';
import type { Changed, ManageMerchant } from '../../../commands/manageMerchant.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { keyScopes } from '../../../domain/merchant/events.ts';
import { keyNameMax } from '../../../domain/merchant/keys.ts';
import { type Instant, parseInstant } from '../../../domain/time.ts';
import type { ChangesPage, UsedKey } from '../../../queries/merchantAudit.ts';
import { memberName, type TeamMember, withNames } from '../../../queries/team.ts';
import type { Owner } from '../auth.ts';
import { type InForce, issueKey } from '../issueKey.ts';
import { type Answer, type AnyRoute, ok, route } from '../router.ts';
import { closed, oneOf, orNull, Time, TimeOrNull, TimeSent, Uuid } from '../schemas/base.ts';
import { pageSize } from '../schemas/queries.ts';
import { AuditQuery, AuditResponse } from '../schemas/settings.ts';
import type { TeamReads } from './team.ts';

/** Actor of a change for a member of the app's team: without operators' names and ids of people. */

/**
 * @param cause of an event
 * @param developerId id of the requesting member
 */
export function actorText(cause: string, developerId: string, team: readonly TeamMember[]): string {
  const [kind, id = ''] = cause.split(/:(.*)/s);
  switch (kind) {
    case 'developer':
      return id === developerId ? 'you' : memberName(team, id);
    case 'operator':
      return 'the operator';
    case 'key':
      return `key ${id}`;
    default:
      return 'the service';
  }
}

/** An app's keys: owners' requests and the service's answers. */
const { Array: List, Object: Shape, Optional } = Type;

const KeyName = Type.String({
  minLength: 1,
  maxLength: 2 * keyNameMax,
  description: `1 to ${keyNameMax} visible characters on one line`,
});
const KeyScope = oneOf(keyScopes, {
  title: 'KeyScope',
  description:
    'orders: creates and reads payments. admin: also reads lists, statistics and deliveries. No key changes settings.',
});

export const KeyRequest = Shape(
  { name: KeyName, scope: Optional(orNull(KeyScope)), expiresAt: Optional(orNull(TimeSent)) },
  {
    ...closed,
    title: 'KeyRequest',
    description: 'scope is orders unless admin is chosen. From expiresAt on, the key is refused.',
    examples: [{ name: 'till 1', scope: 'orders', expiresAt: null }],
  },
);
export const KeyNameRequest = Shape(
  { name: KeyName },
  { ...closed, title: 'KeyNameRequest', examples: [{ name: 'till 2' }] },
);
/** No format: a malformed id is answered like an unknown key. */
export const KeyPath = Shape({ id: Type.String({ description: 'The key’s id.' }) }, closed);

const keyProperties = { keyId: Uuid, name: Type.String(), scope: KeyScope, hint: Type.String(), expiresAt: TimeOrNull };

export const NewKeyResponse = Shape(
  { ...keyProperties, key: Type.String() },
  { title: 'NewKeyResponse', description: 'The key is displayed once.' },
);

export const KeysResponse = Shape(
  {
    data: List(
      Shape(
        {
          ...keyProperties,
          createdAt: Time,
          createdBy: Type.String({
            description: 'you, the e-mail address of a member, a former member, or the operator',
          }),
          lastUsedAt: Type.Unsafe<string | null>({ ...TimeOrNull, description: 'To the hour; null for never.' }),
          revokedAt: TimeOrNull,
        },
        { title: 'IssuedKey' },
      ),
    ),
  },
  { title: 'KeysResponse', description: 'All keys of the app, revoked ones included, oldest first.' },
);

const tag = 'Merchant';
const base = '/merchant-api/me';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;
const list = { 200: { description: 'The app’s keys', schema: KeysResponse } };

/** Reads of an app's API keys and of its history. */
export interface KeyReads {
  /** Every key that the app ever had, oldest first. */
  readonly listKeys: (appId: string) => Promise<readonly UsedKey[]>;
  /** Changes of the app and its links with their authors, newest first. Refuses a forged cursor. */
  readonly listChanges: (
    appId: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ) => Promise<ChangesPage | Refusal>;
}

/** Needs of the routes of an app's API keys and history. */
export interface KeyRoutesDeps extends KeyReads, InForce {
  readonly merchants: Pick<ManageMerchant, 'issueKey' | 'renameKey' | 'revokeKey'>;
  readonly team: Pick<TeamReads, 'list'>;
}

/** An app's API keys and its history, for its owner. */
export const keyRoutes = (deps: KeyRoutesDeps): readonly AnyRoute[] => [
  ...issuing(deps),
  ...changing(deps),
  audit(deps),
];

const issuing = (deps: KeyRoutesDeps): readonly AnyRoute[] => [
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
    body: KeyRequest,
    answers: { 201: { description: 'Issued', schema: NewKeyResponse } },
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

const changing = (deps: KeyRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/keys/{id}/rename`,
    auth: 'owner',
    params: KeyPath,
    body: KeyNameRequest,
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
    params: KeyPath,
    answers: list,
    errors: [...errors, 'notFound'],
    doc: {
      id: 'revokeKey',
      tag,
      summary: 'Revoke a key',
      description: 'After this answer, no instance accepts the key.',
    },
    handle: async ({ caller, params, by }) =>
      keysAfter(deps, caller, await deps.merchants.revokeKey(caller.appId, params.id, by)),
  }),
];

const keysAfter = async (deps: KeyRoutesDeps, caller: Owner, changed: Changed | Refusal): Promise<Answer | Refusal> =>
  isRefusal(changed) ? changed : keysOf(deps, caller);

/** From the log, which is never behind. */
async function keysOf(deps: KeyRoutesDeps, { appId, developerId }: Owner): Promise<Answer> {
  const [keys, team] = await Promise.all([deps.listKeys(appId), deps.team.list(appId)]);
  return ok({ data: keys.map((key) => ({ ...key, createdBy: actorText(key.createdBy, developerId, team) })) });
}

const audit = (deps: KeyRoutesDeps): AnyRoute =>
  route({
    method: 'get',
    path: `${base}/audit`,
    auth: 'owner',
    query: AuditQuery,
    answers: { 200: { description: 'A page of the app’s history', schema: AuditResponse } },
    errors,
    doc: { id: 'listChanges', tag, summary: 'List who changed what of the app and its links, newest first' },
    async handle({ caller: { appId, developerId }, query: { limit = pageSize, cursor } }) {
      const [page, team] = await Promise.all([deps.listChanges(appId, { limit, cursor }), deps.team.list(appId)]);
      if (isRefusal(page)) return page;
      const { changes, nextCursor } = page;
      const data = changes.map((change) => ({
        ...change,
        by: actorText(change.by, developerId, team),
        what: withNames(change.what, team),
      }));
      return ok({ data, hasMore: nextCursor !== null, nextCursor });
    },
  });
