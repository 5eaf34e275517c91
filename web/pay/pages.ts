/** The pages of payments, for whoever has a payment's link: pay and watch, receipt, news, a colour. */
import Type from 'typebox';
import type { HttpDeps } from '../../src/api/deps.ts';
import { entry, fields } from '../dashboard/fields.ts';
import { type AnyForm, type AnyPage, page, type Shown, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import { choiceForm } from './choice.ts';
import { colourSheet } from './colour.ts';
import { embedScript } from './embed.ts';
import { framing } from './framing.ts';
import { livePage } from './live.ts';
import type { PayModel } from './model.ts';
import { payPage } from './page.ts';
import { refundForm } from './pay_refund.ts';
import { payModelOf } from './payModel.ts';
import { receiptPage } from './receipt.ts';

const Asked = fields({ lang: Type.Optional(entry(16)) });
type Asking = Visit<'anyone', { readonly secret: string }, { readonly lang?: string }>;

const params = Type.Object({ secret: Type.String({ maxLength: 200 }) });

export function payPages(deps: HttpDeps): readonly (AnyPage | AnyForm)[] {
  return [
    page({ path: '/pay/{secret}', audience: 'anyone', params, query: Asked, show: shownBy(deps, payPage) }),
    page({ path: '/pay/{secret}/receipt', audience: 'anyone', params, query: Asked, show: shownBy(deps, receiptPage) }),
    choiceForm(deps, (visit, lang) =>
      shown(deps, payPage, { ...visit, query: lang === undefined ? {} : { lang } }, true),
    ),
    ...refundForm(deps),
    livePage(deps),
    embedScript(),
    page({
      path: '/colours/{file}',
      audience: 'anyone',
      params: Type.Object({ file: Type.String({ pattern: '^[0-9a-f]{6}\\.css$' }) }),
      async show({ params: { file } }) {
        const sheet = colourSheet(`#${file.slice(0, 6)}`);
        if (sheet === null) throw noSuchPage();
        const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
        return { status: 200, type: 'text/css; charset=utf-8', body: sheet, headers };
      },
    }),
  ];
}

type Draw = (model: PayModel) => Shown['page'];

const shownBy =
  (deps: HttpDeps, draw: Draw) =>
  (visit: Asking): Promise<Shown> =>
    shown(deps, draw, visit);

/** @param refused whether what the payer chose just now cannot be */
async function shown(deps: HttpDeps, draw: Draw, visit: Asking, refused = false): Promise<Shown> {
  const model = await payModelOf(deps, visit, visit.query.lang);
  return { page: draw({ ...model, refused }), headers: framing(model.sites, model.facts.choiceOpen) };
}
