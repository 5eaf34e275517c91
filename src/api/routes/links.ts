/** Reusable payment links, for their app's owner. */
import type { ChangedLink } from '../../../commands/links.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { type ListedLink, listedOf } from '../../../queries/links.ts';
import type { Access } from '../auth.ts';
import type { HttpDeps } from '../deps.ts';
import { linkUrlOf } from '../payLinks.ts';
import { type Answer, type AnyRoute, ok, route } from '../route.ts';
import { pageSize } from '../schemas/queries.ts';
import * as schemas from './schemas_links.ts';

const tag = 'Merchant';
const base = '/merchant-api/me/links';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;

export const linkRoutes = (deps: HttpDeps, { findApp }: Access): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: base,
    auth: 'app',
    query: schemas.LinksQuery,
    answers: { 200: { description: 'A page of the app’s links, newest first', schema: schemas.LinksResponse } },
    errors: [...errors, 'scope_insufficient'],
    doc: { id: 'listLinks', tag, summary: 'List the app’s reusable payment links' },
    async handle({ caller, query: { limit = pageSize, cursor } }) {
      const page = await deps.links.list(caller.appId, { limit, cursor });
      if (isRefusal(page)) return page;
      const { links, nextCursor } = page;
      return ok({ data: links.map((each) => linkResource(each, deps)), hasMore: nextCursor !== null, nextCursor });
    },
  }),
  route({
    method: 'post',
    path: base,
    auth: 'owner',
    body: schemas.LinkRequest,
    answers: { 201: { description: 'The link', schema: schemas.LinkResponse } },
    errors: [...errors, 'settlementMissing', 'conflict'],
    doc: { id: 'createLink', tag, summary: 'Make a reusable payment link' },
    async handle({ caller: { appId }, body, by }) {
      const app = await findApp(appId);
      if (!app) return refuse('unavailable', 'the settings of the app are not known here yet: try again');
      const { type, amount, minAmount, maxAmount, title, description, source, idempotencyKey } = body;
      const asked = {
        type: type ?? 'exactOut',
        amount: amount ?? undefined,
        minAmount: minAmount ?? undefined,
        maxAmount: maxAmount ?? undefined,
        title: title ?? null,
        description: description ?? null,
        source: source ?? null,
        idempotencyKey,
      } as const;
      return answered(deps, 201, await deps.links.create(app, asked, by));
    },
  }),
  route({
    method: 'post',
    path: `${base}/{id}/close`,
    auth: 'owner',
    params: schemas.LinkPath,
    answers: { 200: { description: 'The link, closed', schema: schemas.LinkResponse } },
    errors: [...errors, 'notFound'],
    doc: {
      id: 'closeLink',
      tag,
      summary: 'Close a reusable payment link',
      description: 'No further payment can be made with it. Those that exist go on.',
    },
    handle: async ({ caller, params, by }) => answered(deps, 200, await deps.links.close(caller.appId, params.id, by)),
  }),
];

/** Once the change can be read. */
async function answered(deps: HttpDeps, status: number, changed: ChangedLink | Refusal): Promise<Answer | Refusal> {
  if (isRefusal(changed)) return changed;
  // Pages read links from the log: only the list may be behind.
  await deps.shown(changed).catch(() => {});
  return { status, body: linkResource(listedOf(changed.link), deps) };
}

const linkResource = (
  { linkId, source, ...rest }: ListedLink,
  deps: Pick<HttpDeps, 'publicUrl'>,
): schemas.LinkResponse => ({
  id: linkId,
  url: linkUrlOf(deps, linkId),
  ...rest,
  source: source && ({ ...source, chainId: String(source.chainId) } as schemas.LinkResponse['source']),
});
