/** Reusable payment links, for their app's owner. */

import Type, { type Static } from 'typebox';
import { type ChangedLink, type ManageLinks, openLinksMax } from '../../../commands/links.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { type Link, linkTypes } from '../../../domain/link.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { type LinkPage, type ListedLink, listedOf } from '../../../queries/links.ts';
import type { Access } from '../auth.ts';
import type { InForce } from '../issueKey.ts';
import { linkUrlOf } from '../resource.ts';
import { type Answer, type AnyRoute, ok, route } from '../router.ts';
import {
  ChainId,
  ChainIdInput,
  closed,
  DecimalOrNull,
  DisplayText,
  Identifier,
  NullableText,
  oneOf,
  orNull,
  PageCursor,
  Time,
  TimeOrNull,
  TokenSymbol,
  TokenSymbolInput,
} from '../schemas/base.ts';
import { limit, pageSize } from '../schemas/queries.ts';

// Reusable payment links.

const { Optional } = Type;

const LinkType = oneOf(linkTypes, {
  title: 'LinkType',
  description: 'exactOut: you get this amount, and the payer pays the fee. exactIn: the payer pays this amount.',
});

export const LinksQuery = Type.Object({ limit: limit('links'), cursor: Optional(PageCursor) }, closed);

/** No pattern: a malformed id is answered like an unknown link. */
export const LinkPath = Type.Object({ id: Type.String({ description: 'The link’s id.' }) }, closed);

export const LinkRequest = Type.Object(
  {
    type: Optional(orNull(LinkType)),
    amount: Optional(DecimalOrNull),
    minAmount: Optional(DecimalOrNull),
    maxAmount: Optional(DecimalOrNull),
    title: Optional(DisplayText(200)),
    description: Optional(DisplayText(1_000)),
    source: Optional(
      orNull(
        Type.Object(
          { chainId: ChainIdInput, tokenSymbol: TokenSymbolInput },
          { ...closed, title: 'LinkSourceRequest' },
        ),
      ),
    ),
    idempotencyKey: Optional(Identifier),
  },
  {
    ...closed,
    title: 'LinkRequest',
    description: `A link with which each payer creates their own payment, to the settlement wallet in force then. amount in dollars, from 0.02 to 10000; without it the payer chooses, from minAmount to maxAmount. The default type is exactOut. Without source the payer chooses the chain and token. idempotencyKey is your own name of the request: a repeated key returns the same link, whatever the other fields are. At most ${openLinksMax} links of an app are open.`,
    examples: [{ amount: '12.50', title: 'A pot of tea', source: { chainId: '8453', tokenSymbol: 'USDC' } }],
  },
);
export type LinkRequest = Static<typeof LinkRequest>;

export const LinkResponse = Type.Object(
  {
    id: Type.String({ description: 'Payments of the link have its id as metadata.linkId.' }),
    url: Type.String({ description: 'URL for payers.' }),
    type: LinkType,
    amount: NullableText,
    minAmount: NullableText,
    maxAmount: NullableText,
    title: NullableText,
    description: NullableText,
    source: orNull(Type.Object({ chainId: ChainId, tokenSymbol: TokenSymbol }, { ...closed, title: 'LinkSource' })),
    createdAt: Time,
    closedAt: TimeOrNull,
  },
  { ...closed, title: 'LinkResponse' },
);
export type LinkResponse = Static<typeof LinkResponse>;

export const LinksResponse = Type.Object(
  { data: Type.Array(LinkResponse), hasMore: Type.Boolean(), nextCursor: NullableText },
  { ...closed, title: 'LinksResponse' },
);

const tag = 'Merchant';
const base = '/merchant-api/me/links';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;

/** Reusable payment links. */
export interface LinkRoutePorts extends ManageLinks {
  /** Reads the log, so a link that was closed a moment ago is closed. Null for an unknown id. */
  readonly find: (linkId: string) => Promise<Link | null>;
  /** An app's links, newest first. */
  readonly list: (
    appId: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ) => Promise<LinkPage | Refusal>;
  /** Newest payments of an app's link, at most `limit`. */
  readonly payments: (appId: string, linkId: string, limit: number) => Promise<readonly PaymentView[]>;
}

/** Needs of the routes of reusable payment links. */
export interface LinkRoutesDeps extends InForce {
  readonly links: LinkRoutePorts;
  readonly publicUrl: () => string;
}

export const linkRoutes = (deps: LinkRoutesDeps, { findApp }: Access): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: base,
    auth: 'app',
    query: LinksQuery,
    answers: { 200: { description: 'A page of the app’s links, newest first', schema: LinksResponse } },
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
    body: LinkRequest,
    answers: { 201: { description: 'The link', schema: LinkResponse } },
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
    params: LinkPath,
    answers: { 200: { description: 'The link, closed', schema: LinkResponse } },
    errors: [...errors, 'notFound'],
    doc: {
      id: 'closeLink',
      tag,
      summary: 'Close a reusable payment link',
      description: 'The link creates no further payments. Existing payments continue.',
    },
    handle: async ({ caller, params, by }) => answered(deps, 200, await deps.links.close(caller.appId, params.id, by)),
  }),
];

/** Answers once the change can be read. */
async function answered(
  deps: LinkRoutesDeps,
  status: number,
  changed: ChangedLink | Refusal,
): Promise<Answer | Refusal> {
  if (isRefusal(changed)) return changed;
  // Pages read links from the log: only the list may lag.
  await deps.shown(changed).catch(() => {});
  return { status, body: linkResource(listedOf(changed.link), deps) };
}

const linkResource = (
  { linkId, source, ...rest }: ListedLink,
  deps: Pick<LinkRoutesDeps, 'publicUrl'>,
): LinkResponse => ({
  id: linkId,
  url: linkUrlOf(deps, linkId),
  ...rest,
  source: source && ({ ...source, chainId: String(source.chainId) } as LinkResponse['source']),
});
