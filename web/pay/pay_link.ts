/** A reusable link: a page that makes nothing, and a form that makes a payment of the payer's own and leads to it. */
import Type from 'typebox';
import { createPayLink, sourcesOf } from '../../commands/payLink.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Link } from '../../domain/link.ts';
import type { App } from '../../queries/apps.ts';
import { listedOf } from '../../queries/links.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { unavailable } from '../../src/api/errors.ts';
import { linkPath, payPath } from '../../src/api/payLinks.ts';
import { admitApp } from '../../src/api/rateLimits.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { entry, fields } from '../dashboard/fields.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { withQuery } from '../parts/paths.ts';
import { languageOf } from './language.ts';
import { linkPage } from './link.ts';
import { sayIn } from './messages/index.ts';
import { shopOf } from './shop.ts';

const path = '/link/{linkId}';
const params = Type.Object({ linkId: Type.String({ maxLength: 100 }) });
const Asked = fields({ lang: Type.Optional(entry(16)) });

/** People write cents at most, after a point or a comma: `1.000` and `1,000` mean different things to different people. */
const Amount = Type.String({ pattern: '^[0-9]{1,6}([.,][0-9]{1,2})?$', description: 'an amount like 10.00' });
const Filled = fields({
  nonce: Uuid,
  lang: Type.Optional(entry(16)),
  amount: Type.Optional(Amount),
  source: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}-[A-Z]{1,10}$', description: 'one of the list' })),
});

type Visitor = Visit<'anyone', { readonly linkId: string }>;

export function linkPages(deps: HttpDeps): readonly (AnyPage | AnyForm)[] {
  const { ids, site } = deps;
  const offers = ({ id }: Chain): boolean => site.chains.some((chain) => chain.id === id);
  // Payers cannot fill the log, and never take the place of payments that the app itself creates.
  const payFrom = (address: string) =>
    createPayLink(async (request, app, caller) => {
      await admitApp(deps.rates, 'linkOpen', app.appId, address);
      return deps.createPayment(request, app, caller);
    }, offers);
  const shown = async (visit: Visitor, state: FormState, lang: string | undefined): Promise<Shown> => {
    const link = await existing(deps, visit.params.linkId);
    const app = await knownApp(deps, link.appId);
    const model = {
      say: sayIn(languageOf(lang, visit.languages)),
      mode: site.mode,
      path: linkPath(link.linkId),
      shop: await shopOf(deps, link.appId, null),
      link: listedOf(link),
      from: sourcesOf(link, app, offers),
      sources: site.chains.flatMap(({ id, tokens }) =>
        tokens.map(({ symbol }) => ({ chainId: id, tokenSymbol: symbol })),
      ),
      nonce: ids.eventId(),
      form: state,
    };
    return { page: linkPage(model), ...(link.closedAt !== null && { status: 410 }) };
  };
  return [
    page({
      path,
      audience: 'anyone',
      params,
      query: Asked,
      show: (visit) => shown(visit, emptyForm, visit.query.lang),
    }),
    form({
      path,
      audience: 'anyone',
      params,
      fields: Filled,
      creates: true,
      pointers: { '/source/amount': 'amount', '/destination/amount': 'amount' },
      async act({ params: { linkId }, fields: { nonce, amount, source, lang = null }, by, address }) {
        const link = await existing(deps, linkId);
        // The page says so.
        if (link.closedAt !== null) return { to: withQuery(linkPath(linkId), { lang }) };
        const app = await knownApp(deps, link.appId);
        const [chainId = '', tokenSymbol = ''] = source?.split('-') ?? [];
        const visit = {
          nonce,
          amount: amount?.replace(',', '.'),
          source: source === undefined ? undefined : { chainId, tokenSymbol },
        };
        const created = await payFrom(address)(app, link, visit, by);
        if (isRefusal(created)) return created;
        const secret = deps.paymentSecrets.secretOf(created.payment.terms.paymentId);
        return { to: withQuery(payPath(secret), { lang }) };
      },
      again: (visit, state) => shown(visit, state, state.values['lang']),
    }),
  ];
}

/** A link that is none and one that was cut are answered alike. */
async function existing({ links }: Pick<HttpDeps, 'links'>, linkId: string): Promise<Link> {
  const link = await links.find(linkId);
  if (!link) throw noSuchPage();
  return link;
}

async function knownApp({ findApp }: Pick<HttpDeps, 'findApp'>, appId: string): Promise<App> {
  const app = await findApp(appId);
  if (!app) throw unavailable('the settings of the app are not known here yet: try again', 5);
  return app;
}
