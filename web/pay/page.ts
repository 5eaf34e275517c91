/** The page at which a payment is paid and watched: one screen for each situation of its payer. */
import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { asked, titleOf } from './asked.ts';
import { countdown } from './countdown.ts';
import { help } from './help.ts';
import { payDocument } from './layout.ts';
import type { PayModel } from './model.ts';
import { moneyBack } from './moneyBack.ts';
import { outcome } from './outcome.ts';
import { payFrom } from './payFrom.ts';
import { story } from './story.ts';
import { toPay } from './toPay.ts';

/** Situations that change by themselves soon are looked at again soon, where no script does; those that are over, never. */
const refresh_s = { soon: 5, open: 15 } as const;

export function payPage(model: PayModel): VNode {
  const { facts, shop, path } = model;
  const { kind } = facts.situation;
  const title = titleOf(model);
  const over = ['completed', 'expired', 'refunded', 'tooLow', 'tooHigh', 'unpayable'].includes(kind);
  const refresh = kind === 'waiting' ? refresh_s.open : refresh_s.soon;
  const live = { from: `${path}/live`, refresh_s: over ? null : refresh };
  return payDocument(
    model,
    {
      title: shop.name === null ? title : `${title} · ${shop.name}`,
      shop,
      order: facts.payment.orderId ?? facts.payment.title,
      live,
      sites: model.sites,
    },
    html`<div class="card">
      ${asked(model)}
      ${payFrom(model)}
      ${countdown(model)}
      ${toPay(model)}
      ${story(model)}
      ${outcome(model)}
      ${moneyBack(model)}
      ${help(model)}
      <p class="visually-hidden" id="said" data-say=${title}></p>
      <p hidden id="version" data-live="part" data-standing=${kind}>${facts.version}</p>
    </div>`,
  );
}
