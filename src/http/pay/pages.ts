/** The pages of payments, for whoever has a payment's link: pay and watch, receipt, news, a colour. */
import Type from 'typebox';
import type { PayerFacts } from '../../../queries/payerFacts.ts';
import { colourSheet } from '../../../web/pay/colour.ts';
import { languageOf } from '../../../web/pay/language.ts';
import { sayIn } from '../../../web/pay/messages/index.ts';
import { type Around, endedUnpaid, type PayModel } from '../../../web/pay/model.ts';
import { payPage } from '../../../web/pay/page.ts';
import { receiptPage } from '../../../web/pay/receipt.ts';
import { entry, fields } from '../dashboard/fields.ts';
import { type AnyForm, type AnyPage, page, type Shown, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import type { HttpDeps } from '../deps.ts';
import { linkPath, payPath } from '../payLinks.ts';
import { choiceForm } from './choice.ts';
import { embedScript } from './embed.ts';
import { framing } from './framing.ts';
import { livePage } from './live.ts';
import { shopOf } from './shop.ts';

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

/**
 * A secret of no payment and one that is none are answered alike.
 *
 * @param refused whether what the payer chose just now cannot be
 */
async function shown(deps: HttpDeps, draw: Draw, visit: Asking, refused = false): Promise<Shown> {
  const { secret } = visit.params;
  const around: Around = {
    say: sayIn(languageOf(visit.query.lang, visit.languages)),
    mode: deps.site.mode,
    path: payPath(secret),
  };
  const paymentId = deps.paymentSecrets.paymentIdOf(secret);
  const facts = paymentId === null ? null : await deps.payerFacts(paymentId);
  if (!facts) throw noSuchPage();
  const { appId } = facts.payment;
  const [shop, sites, madeWith] = await Promise.all([
    shopOf(deps, appId, facts.payment),
    deps.embeddingSites(appId),
    linkOf(deps, facts),
  ]);
  const page = draw({ ...around, facts, shop, sites, walletLink: walletLinkOf(deps, facts), refused, madeWith });
  return { page, headers: framing(sites, facts.choiceOpen) };
}

/** Anybody can write a link's id into a payment's metadata: it is a link of the payment's own app, or none. */
async function linkOf(
  { links }: Pick<HttpDeps, 'links'>,
  { payment, situation }: PayerFacts,
): Promise<PayModel['madeWith']> {
  const linkId = payment.metadata?.['linkId'];
  if (!endedUnpaid(situation) || typeof linkId !== 'string') return null;
  const link = await links.find(linkId);
  return link?.appId === payment.appId ? { path: linkPath(linkId), closed: link.closedAt !== null } : null;
}

/** For what is still to be sent. */
function walletLinkOf({ walletLink }: Pick<HttpDeps, 'walletLink'>, { payment, situation }: PayerFacts): string | null {
  if (!situation.open) return null;
  return walletLink(
    payment,
    payment.sourceAmount === null ? null : (situation.missing?.amount ?? payment.sourceAmount),
  );
}
