/** Links to pay with: how to make one, and the reusable ones that there are. GET: cursor. */
import type { VNode } from 'preact';
import type { ListedLink } from '../../queries/links.ts';
import { card, empty } from '../parts/boxes.ts';
import { linkButton } from '../parts/button.ts';
import { amountText } from '../parts/cells.ts';
import { chip } from '../parts/chip.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { pager } from '../parts/pager.ts';
import { appPaths } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { onDay } from '../parts/time.ts';
import { chainName } from '../parts/words.ts';

export interface LinksModel extends Frame {
  /** Newest first. */
  readonly links: readonly ListedLink[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** A wallet app has no wallet of its own that reusable links could pay to. */
  readonly mayReuse: boolean;
}

export const linksPage = (model: LinksModel): VNode => {
  const { app, links, cursor, nextCursor, mayReuse } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: 'Payment links',
      section: 'links',
      controls: [
        mayReuse && linkButton(to.newReusableLink, 'New reusable link'),
        linkButton(to.newLink, 'New payment link', 'primary'),
      ],
    },
    html`<div class="stack">
      ${card(
        { title: 'Reusable links', note: 'each payer makes a payment of his own' },
        html`<div>${links.length > 0 ? linkTable(model) : noLinks(model)}
        ${pager({ path: to.links, cursor, nextCursor })}</div>`,
      )}
    </div>`,
  );
};

const linkTable = ({ app, links }: LinksModel): VNode =>
  table(
    'Reusable links',
    [
      { head: 'Link', kind: 'title' },
      { head: 'State', kind: 'chip' },
      { head: 'Paid on', kind: 'detail' },
      { head: 'Made', kind: 'when' },
      { head: 'Amount', kind: 'number' },
    ],
    links.map((link) => [
      html`<a href=${appPaths(app.appId).link(link.linkId)}><strong>${bdi(nameOfLink(link))}</strong></a>`,
      linkChip(link),
      sourceOf(link),
      onDay(link.createdAt),
      amountOf(link),
    ]),
  );

export const nameOfLink = ({ title, linkId }: Pick<ListedLink, 'title' | 'linkId'>): string =>
  title ?? `Link ${linkId.slice(0, 6)}`;

export const linkChip = ({ closedAt }: Pick<ListedLink, 'closedAt'>): VNode =>
  closedAt === null ? chip('ok', 'Open') : chip('idle', 'Closed');

export const sourceOf = ({ source }: Pick<ListedLink, 'source'>): string =>
  source === null ? 'where the payer chooses' : `${source.tokenSymbol} on ${chainName(source.chainId)}`;

export const amountOf = ({ amount, minAmount, maxAmount }: ListedLink): string =>
  amount === null ? `${minAmount} to ${amountText(maxAmount, 'USD')}` : amountText(amount, 'USD');

function noLinks({ app, mayReuse, cursor }: LinksModel): VNode {
  const to = appPaths(app.appId);
  if (cursor !== null) return empty('No more links', 'This was the last page.', linkButton(to.links, 'Newest'));
  if (!mayReuse) {
    return empty(
      'None for this app',
      'Reusable links pay the settlement wallet of a merchant app. Here each payment says who receives it.',
      linkButton(to.newLink, 'New payment link', 'primary'),
    );
  }
  return empty(
    'No reusable link yet',
    'Print one on a sign, put it on a page, or send it to many: whoever opens it makes a payment of his own, to your wallet.',
    linkButton(to.newReusableLink, 'Make a reusable link', 'primary'),
  );
}
