/** One reusable link: to copy, to scan, to send; and its end. */
import type { VNode } from 'preact';
import type { ListedLink } from '../../queries/links.ts';
import { card, inside, pairs } from '../parts/boxes.ts';
import { linkButton } from '../parts/button.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { notice } from '../parts/notice.ts';
import { appPaths } from '../parts/paths.ts';
import { sharing } from '../parts/sharing.ts';
import { when } from '../parts/time.ts';
import { amountOf, linkChip, nameOfLink, sourceOf } from './links.ts';

export interface LinkModel extends Frame {
  readonly link: ListedLink;
  /** Where payers open it. */
  readonly url: string;
}

export const linkPage = (model: LinkModel): VNode => {
  const { app, link, url } = model;
  const to = appPaths(app.appId);
  const open = link.closedAt === null;
  return appPage(
    model,
    {
      title: nameOfLink(link),
      state: linkChip(link),
      up: { href: to.links, label: 'Payment links' },
      section: 'links',
      controls: open && linkButton(to.closeLink(link.linkId), 'Close the link'),
    },
    html`<div class="stack">
      ${
        open
          ? card({ title: 'Send it to whoever pays' }, inside(sharing(url, nameOfLink(link))))
          : notice(
              'idle',
              html`<p>Whoever opens it is told that it is closed. Payments that were made with it go on.</p>`,
            )
      }
      ${card(
        { title: 'Facts' },
        inside(
          pairs([
            [
              'Amount',
              html`<span>${amountOf(link)}, ${link.type === 'exactOut' ? 'which you get; the payer pays the fee' : 'which the payer pays; the fee is part of it'}</span>`,
            ],
            ['Paid', sourceOf(link)],
            link.title === null ? null : ['Title', bdi(link.title)],
            link.description === null ? null : ['Description', bdi(link.description)],
            ['Made', when(link.createdAt)],
            link.closedAt === null ? null : ['Closed', when(link.closedAt)],
            ['Id', html`<span class="mono whole">${link.linkId}</span>`],
          ]),
        ),
      )}
      <p class="small muted">Its payments are among the others, with an order that begins with link-; their metadata has
      this link’s id. They pay the settlement wallet that is in force when they are made.</p>
    </div>`,
  );
};
