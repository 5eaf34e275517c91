/** "Needs you" on the overview: tasks of people, each with a link to its page. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { PaymentsInNeed } from '../../queries/findPayments.ts';
import { card } from '../parts/boxes.ts';
import { amountText, between, grouped, lengthText, paymentName, when } from '../parts/cells.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { dueOf } from '../parts/paymentState.ts';
import { countContent, sayContent, sayCount, sayText } from '../parts/say.ts';

export interface Needs {
  readonly payments: PaymentsInNeed;
  /** Webhooks of the last 24 hours that the receiver did not accept, counted up to `exhaustedMax`. */
  readonly exhausted: number;
  /** When the requested settlement wallet takes effect; null without a request. */
  readonly walletFrom: Instant | null;
  /** Keys that still work and were not used for `unusedKey_days`. */
  readonly unusedKeys: readonly { readonly keyId: string; readonly name: string }[];
}

export const unusedKey_days = 90;
export const exhaustedMax = 100;
/** Underpaid payments that have an entry of their own. */
const underpaidShown = 3;

interface Entry {
  readonly href: string;
  readonly drawing: IconName;
  readonly title: Content;
  readonly text: Content;
}

/** Null if there is no task. */
export function needsCard(appId: string, needs: Needs, now: Instant): VNode | null {
  const entries = entriesOf(appId, needs, now);
  if (entries.length === 0) return null;
  return card(
    { title: sayText('needsYou'), live: 'needs' },
    html`<ul class="list">${entries.map(
      ({ href, drawing, title, text }) =>
        html`<li><a class="go" href=${href}><span class="tick need">${icon(drawing)}</span><span><strong>${title}</strong>
          <small class="muted">${text}</small></span>${icon('forth')}</a></li>`,
    )}</ul>`,
  );
}

function entriesOf(appId: string, needs: Needs, now: Instant): readonly Entry[] {
  const to = appPaths(appId);
  const { payments, exhausted, walletFrom, unusedKeys } = needs;
  const { holding, underpaid } = payments;
  const inNeed = withQuery(to.payments, { group: 'needs' });
  const entries: Entry[] = [];
  if (holding.count > 0)
    entries.push({
      href: inNeed,
      drawing: 'balance',
      title: heldTitle(payments),
      text: sayContent('holdMoneyText'),
    });
  for (const payment of underpaid.slice(0, underpaidShown)) entries.push(underpaidEntry(appId, payment, now));
  if (underpaid.length > underpaidShown)
    entries.push({
      href: inNeed,
      drawing: 'clock',
      title: sayCount('moreUnderpaid', underpaid.length - underpaidShown),
      text: sayContent('moreUnderpaidText'),
    });
  if (exhausted > 0)
    entries.push({
      href: to.webhooks,
      drawing: 'webhooks',
      title: sayCount('webhooksRefused', exhausted, exhausted < exhaustedMax ? {} : { count: `${exhaustedMax}+` }),
      text: sayContent('webhooksRefusedText'),
    });
  if (walletFrom !== null)
    entries.push({
      href: to.settlement,
      drawing: 'settlement',
      title: html`<span>${sayContent('walletFrom', { time: when(walletFrom) })}</span>`,
      text: sayContent('walletFromText'),
    });
  if (unusedKeys.length > 0)
    entries.push({
      href: to.keys,
      drawing: 'keys',
      title: sayCount('keysUnused', unusedKeys.length, { days: String(unusedKey_days) }),
      text: html`<span>${sayContent('keysUnusedText', {
        names: bdi(
          unusedKeys
            .slice(0, 3)
            .map(({ name }) => name)
            .join(', '),
        ),
      })}${unusedKeys.length > 3 && ', …'}</span>`,
    });
  return entries;
}

function heldTitle({ holding: { count, sums }, capped }: PaymentsInNeed): Content {
  const money = sums.map(({ amount, tokenSymbol }) => amountText(amount, tokenSymbol)).join(' + ');
  const what = countContent('holdMoney', count, { money });
  return capped ? sayContent('atLeast', { what }) : what;
}

function underpaidEntry(appId: string, payment: PaymentView, now: Instant): Entry {
  const left_ms = between(now, payment.expiresAt);
  const { sourceTokenSymbol } = payment;
  return {
    href: appPaths(appId).payment(payment.paymentId),
    drawing: 'clock',
    title: html`<span>${bdi(paymentName(payment))}: ${sayContent('receivedOf', {
      received: grouped(payment.amountReceived ?? '0.00'),
      due: amountText(dueOf(payment), sourceTokenSymbol),
    })}</span>`,
    text: left_ms > 0 ? sayContent('payTimeLeft', { time: lengthText(left_ms) }) : sayContent('payTimeOver'),
  };
}
