/** Reusable links: listed, made by form, looked at, closed. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { linkTypes } from '../../domain/link.ts';
import { type ListedLink, listedOf } from '../../queries/links.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { linkUrlOf } from '../../src/api/payLinks.ts';
import { Cursor, Decimal, oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { confirmPage } from './confirm.ts';
import { displayEntry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { linkPage } from './link.ts';
import { linksPage, nameOfLink } from './links.ts';
import { newReusableLinkPage } from './newReusableLink.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<HttpDeps, 'links' | 'findApp' | 'shown' | 'ids' | 'site' | 'publicUrl'>;

const path = '/dashboard/apps/{appId}/links';
const params = Type.Object({ appId: Type.String(), linkId: Type.String() });
const rows = 50;

export const linkPages = (deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] => [
  list(deps, frames),
  ...making(deps, frames),
  ...one(deps, frames),
];

const list = ({ links }: Deps, frames: Frames): AnyPage =>
  page({
    path,
    audience: 'owner',
    query: fields({ cursor: Type.Optional(Cursor) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { cursor = null } = visit.query;
      const [frame, found] = await Promise.all([
        frames.ofApp(visit),
        links.list(appId, { limit: rows, cursor: cursor ?? undefined }),
      ]);
      if (isRefusal(found)) throw errorOfRefusal(found);
      return { page: linksPage({ ...frame, ...found, cursor, mayReuse: appId.startsWith('merchant_') }) };
    },
  });

const NewLink = fields({
  nonce: Type.Optional(Uuid),
  amount: Type.Optional(Decimal),
  minAmount: Type.Optional(Decimal),
  maxAmount: Type.Optional(Decimal),
  type: Type.Optional(oneOf(linkTypes)),
  source: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}-[A-Z]{1,10}$', description: 'one of the list' })),
  title: Type.Optional(displayEntry(200)),
  description: Type.Optional(displayEntry(1_000)),
});

const making = (
  { links, findApp, shown: readable, ids, site }: Deps,
  frames: Frames,
): readonly (AnyPage | AnyForm)[] => {
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const [frame, app] = await Promise.all([frames.ofApp(visit), findApp(visit.visitor.appId)]);
    const settlement = app?.settlement ?? null;
    return {
      page: newReusableLinkPage({ ...frame, form: state, nonce: ids.eventId(), chains: site.chains, settlement }),
    };
  };
  return [
    page({ path: `${path}/reusable`, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: `${path}/reusable`,
      audience: 'owner',
      fields: NewLink,
      pointers: { '/source/chainId': 'source', '/source/tokenSymbol': 'source' },
      async act({ visitor: { appId }, fields: sent, by }) {
        const app = await findApp(appId);
        if (!app) throw noSuchPage();
        const { nonce, type = 'exactOut', title = null, description = null, source, ...amounts } = sent;
        const [chainId = '', tokenSymbol = ''] = source?.split('-') ?? [];
        const asked = {
          ...amounts,
          type,
          title,
          description,
          source: source === undefined ? null : { chainId, tokenSymbol },
          idempotencyKey: nonce,
        };
        const made = await links.create(app, asked, by);
        if (isRefusal(made)) return made;
        await readable(made);
        return { to: appPaths(appId).link(made.link.linkId), told: 'reusableLinkMade' };
      },
      again: shown,
    }),
  ];
};

const one = (deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] => {
  /** From the log. A link of another app is answered like none. */
  const own = async ({
    visitor,
    params: { linkId },
  }: Visit<'owner', { readonly linkId: string }>): Promise<ListedLink> => {
    const link = await deps.links.find(linkId);
    if (link?.appId !== visitor.appId) throw noSuchPage();
    return listedOf(link);
  };
  const asking = async (visit: Visit<'owner', { readonly linkId: string }>): Promise<Shown> => {
    const link = await own(visit);
    if (link.closedAt !== null) throw noSuchPage();
    const danger = { kind: 'closeLink', linkId: link.linkId, name: nameOfLink(link) } as const;
    return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
  };
  return [
    page({
      path: `${path}/{linkId}`,
      audience: 'owner',
      params,
      async show(visit) {
        const link = await own(visit);
        return { page: linkPage({ ...(await frames.ofApp(visit)), link, url: linkUrlOf(deps, link.linkId) }) };
      },
    }),
    page({ path: `${path}/{linkId}/close`, audience: 'owner', params, show: asking }),
    form({
      path: `${path}/{linkId}/close`,
      audience: 'owner',
      params,
      fields: noFields,
      async act({ visitor: { appId }, params: { linkId }, by }) {
        const closed = await deps.links.close(appId, linkId, by);
        if (isRefusal(closed)) return closed;
        await deps.shown(closed).catch(() => {});
        return { to: appPaths(appId).link(linkId), told: 'linkClosed' };
      },
      again: asking,
    }),
  ];
};
