/** Payment links: how to make one, and the existing reusable ones. GET: cursor. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { Ids } from '../../commands/ports.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { linkTypes } from '../../domain/link.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { type ListedLink, linkWindow, listedOf } from '../../queries/links.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import { linkUrlOf } from '../../src/api/resource.ts';
import type { LinkRoutePorts } from '../../src/api/routes/links.ts';
import { Decimal, oneOf, PageCursor, Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { amountText, chainName, grouped, onDay, when } from '../parts/cells.ts';
import {
  choiceField,
  emptyForm,
  type FormState,
  linkButton,
  type Option,
  problems,
  selectField,
  submit,
  textField,
} from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { sharing } from '../parts/sharing.ts';
import { pager, table } from '../parts/table.ts';
import { confirmPage } from './confirm.ts';
import { displayEntry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { paymentTable } from './payments.ts';
import { noSuchPage } from './router.ts';
import { paidOutTo, settlementFirst, type WalletFields } from './settlementForm.ts';

export interface LinksModel extends Frame {
  /** Newest first. */
  readonly links: readonly ListedLink[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** A wallet app has no settlement wallet for reusable links. */
  readonly mayReuse: boolean;
}

export const linksPage = (model: LinksModel): VNode => {
  const { app, links, cursor, nextCursor, mayReuse } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: sayText('links'),
      section: 'links',
      controls: [
        mayReuse && linkButton(to.newReusableLink, sayContent('newReusableLink')),
        linkButton(to.newLink, sayContent('newPayment'), 'primary'),
      ],
    },
    html`<div class="stack">
      ${card(
        { title: sayText('reusableLinks'), note: sayContent('reusableLinksNote') },
        html`<div>${links.length > 0 ? linkTable(model) : noLinks(model)}
        ${pager({ path: to.links, cursor, nextCursor })}</div>`,
      )}
    </div>`,
  );
};

const linkTable = ({ app, links }: LinksModel): VNode =>
  table(
    sayText('reusableLinks'),
    [
      { head: sayText('link'), kind: 'title' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('paidOn'), kind: 'detail' },
      { head: sayText('linkMade'), kind: 'when' },
      { head: sayText('amount'), kind: 'number' },
    ],
    links.map((link) => [
      html`<a href=${appPaths(app.appId).link(link.linkId)}><strong>${bdi(nameOfLink(link))}</strong></a>`,
      linkChip(link),
      readLinkSource(link),
      onDay(link.createdAt),
      amountOf(link),
    ]),
  );

export const nameOfLink = ({ title, linkId }: Pick<ListedLink, 'title' | 'linkId'>): string =>
  title ?? sayText('linkNamed', { id: linkId.slice(0, 6) });

export const linkChip = ({ closedAt }: Pick<ListedLink, 'closedAt'>): VNode =>
  closedAt === null ? chip('ok', sayText('linkOpen')) : chip('idle', sayText('linkClosed'));

export const readLinkSource = ({ source }: Pick<ListedLink, 'source'>): string =>
  source === null
    ? sayText('wherePayerChooses')
    : sayText('onChain', { token: source.tokenSymbol, chain: chainName(source.chainId) });

export const amountOf = ({ amount, minAmount, maxAmount }: ListedLink): Content =>
  amount === null
    ? sayContent('amountRange', { least: grouped(minAmount ?? '0'), most: amountText(maxAmount, 'USD') })
    : amountText(amount, 'USD');

function noLinks({ app, mayReuse, cursor }: LinksModel): VNode {
  const to = appPaths(app.appId);
  if (cursor !== null)
    return empty(sayText('noMoreLinks'), sayContent('lastPage'), linkButton(to.links, sayContent('newest')));
  if (!mayReuse) {
    return empty(
      sayText('noLinksForApp'),
      sayContent('noLinksForAppText'),
      linkButton(to.newLink, sayContent('newPayment'), 'primary'),
    );
  }
  return empty(
    sayText('noReusableLink'),
    sayContent('noReusableLinkText'),
    linkButton(to.newReusableLink, sayContent('makeReusableLink'), 'primary'),
  );
}

/** Payments that a link's page lists. */
const paymentsMax = 10;

export interface LinkModel extends Frame {
  readonly link: ListedLink;
  /** URL for payers. */
  readonly url: string;
  /** Newest first. */
  readonly payments: readonly PaymentView[];
}

/** One reusable link: copy, QR code, mail and close. */
export const linkPage = (model: LinkModel): VNode => {
  const { app, link, url, payments } = model;
  const to = appPaths(app.appId);
  const open = link.closedAt === null;
  return appPage(
    model,
    {
      title: nameOfLink(link),
      state: linkChip(link),
      up: { href: to.links, label: sayText('links') },
      section: 'links',
      controls: open && linkButton(to.closeLink(link.linkId), sayContent('closeTheLink')),
    },
    html`<div class="stack">
      ${
        open
          ? card({ title: sayText('sendToPayer') }, inside(sharing(url, nameOfLink(link))))
          : notice('idle', html`<p>${sayContent('linkIsClosed')}</p>`)
      }
      ${card(
        { title: sayText('facts') },
        inside(
          pairs([
            [
              sayText('amount'),
              html`<span>${sayContent(link.type === 'exactOut' ? 'youGetIt' : 'payerPaysIt', { amount: amountOf(link) })}</span>`,
            ],
            [sayText('isPaid'), readLinkSource(link)],
            link.title === null ? null : [sayText('title'), bdi(link.title)],
            link.description === null ? null : [sayText('description'), bdi(link.description)],
            [sayText('linkMade'), when(link.createdAt)],
            link.closedAt === null ? null : [sayText('closedAt'), when(link.closedAt)],
            [sayText('id'), html`<span class="mono whole">${link.linkId}</span>`],
          ]),
        ),
      )}
      ${card(
        {
          title: sayText('linkPayments'),
          note: sayContent('linkPaymentsNewest', { count: grouped(String(paymentsMax)) }),
        },
        payments.length > 0
          ? paymentTable(app.appId, payments)
          : empty(sayText('noLinkPayment'), sayContent('noLinkPaymentText', { count: grouped(String(linkWindow)) })),
      )}
      <p class="small muted">${sayContent('linkPaymentsNote')}</p>
    </div>`,
  );
};

export interface NewReusableLinkModel extends Frame {
  readonly form: FormState;
  /** Specific to this form: a repeated submit makes one link. */
  readonly nonce: string;
  /** Chains on which payers can pay. */
  readonly chains: readonly Chain[];
  /** Settlement wallet of the payments. Without one there can be no link. */
  readonly settlement: WalletFields | null;
}

/** Creates a reusable link and leads to its page. POST: nonce, amount, minAmount, maxAmount, type, source, title, description. */
export const newReusableLinkPage = (model: NewReusableLinkModel): VNode =>
  appPage(
    model,
    {
      title: sayText('newReusableLink'),
      section: 'links',
      up: { href: appPaths(model.app.appId).links, label: sayText('links') },
    },
    html`<div class="stack narrow">${
      model.settlement === null
        ? settlementFirst(model.app.appId)
        : card({ title: sayText('toBePaidEachTime') }, linkForm(model, model.settlement))
    }</div>`,
  );

const amountPattern = ' *[0-9]+([.][0-9]+)? *';

function linkForm({ app, form, nonce, chains }: NewReusableLinkModel, settlement: WalletFields): VNode {
  const amount = { form, inputmode: 'decimal', maxlength: 20, pattern: amountPattern, optional: true } as const;
  return html`<form class="inside" method="post" action=${appPaths(app.appId).newReusableLink}>
    ${problems(form)}
    <input type="hidden" name="nonce" value=${nonce} />
    ${textField({ ...amount, name: 'amount', label: sayText('amountInDollars'), placeholder: '10.00', focus: true, hint: sayContent('amountEmptyHint') })}
    <div class="columns">
      ${textField({ ...amount, name: 'minAmount', label: sayText('leastAmount'), placeholder: '0.02', hint: sayContent('leastAmountHint') })}
      ${textField({ ...amount, name: 'maxAmount', label: sayText('mostAmount'), placeholder: '10000.00' })}
    </div>
    ${choiceField({ form, name: 'type', label: sayText('amountMeaning'), options: typeOptions() })}
    ${selectField({ form, name: 'source', label: sayText('paidOn'), options: sourceOptions(chains) })}
    ${paidOutTo(settlement)}
    ${textField({ form, name: 'title', label: sayText('title'), optional: true, maxlength: 200, hint: sayContent('payerSeesIt') })}
    ${textField({ form, name: 'description', label: sayText('description'), optional: true, maxlength: 1000 })}
    ${submit(sayContent('makeTheLink'))}
  </form>`;
}

export const typeOptions = () => [
  { value: 'exactOut', label: sayText('amountYouGet'), hint: sayText('whatYouGetHint') },
  { value: 'exactIn', label: sayText('whatPayerPays'), hint: sayText('whatPayerPaysHint') },
];

/** As `8453-USDC`. */
const sourceOptions = (chains: readonly Chain[]): readonly Option[] => [
  { value: '', label: sayText('payerChooses') },
  ...chains.flatMap(({ id, name, tokens }) =>
    tokens.map(({ symbol }) => ({
      value: `${id}-${symbol}`,
      label: sayText('onChain', { token: symbol, chain: name }),
    })),
  ),
];

// Reusable links: listed, created by form, displayed, closed.

/** Needs of the pages of reusable links. */
export interface LinkPagesDeps extends Pick<AccessDeps, 'findApp'>, InForce {
  readonly links: LinkRoutePorts;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly site: Site;
  readonly publicUrl: () => string;
}

const path = '/dashboard/apps/{appId}/links';
const params = Type.Object({ appId: Type.String(), linkId: Type.String() });
const rows = 50;

export const linkPages = (deps: LinkPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] => [
  list(deps, frames),
  ...making(deps, frames),
  ...one(deps, frames),
];

const list = ({ links }: LinkPagesDeps, frames: Frames): AnyPage =>
  page({
    path,
    audience: 'owner',
    query: fields({ cursor: Type.Optional(PageCursor) }),
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
  { links, findApp, shown: readable, ids, site }: LinkPagesDeps,
  frames: Frames,
): readonly (AnyPage | AnyForm)[] => {
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
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

const one = (deps: LinkPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] => {
  /** From the log. A link of another app is answered like an unknown one. */
  const own = async ({
    visitor,
    params: { linkId },
  }: Visit<'owner', { readonly linkId: string }>): Promise<ListedLink> => {
    const link = await deps.links.find(linkId);
    if (link?.appId !== visitor.appId) throw noSuchPage();
    return listedOf(link);
  };
  const asking = async (visit: Visit<'owner', { readonly linkId: string }>): Promise<PageResult> => {
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
        const [frame, payments] = await Promise.all([
          frames.ofApp(visit),
          deps.links.payments(visit.visitor.appId, link.linkId, paymentsMax),
        ]);
        return { page: linkPage({ ...frame, link, url: linkUrlOf(deps, link.linkId), payments }) };
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
