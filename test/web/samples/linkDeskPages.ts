/** Payment links and cashback in the dashboard. */
import type { VNode } from 'preact';
import { chains } from '../../../domain/chains.ts';
import { hour_ms } from '../../../domain/time.ts';
import type { CashbackMovement } from '../../../queries/cashback.ts';
import type { ListedLink } from '../../../queries/links.ts';
import { cashbackPage } from '../../../web/dashboard/cashback.ts';
import { confirmPage } from '../../../web/dashboard/confirm.ts';
import { linkPage, linksPage, newReusableLinkPage } from '../../../web/dashboard/links.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { Frame } from '../../../web/parts/frame.ts';
import { ago, list, now, type Say, wallet } from './payments.ts';
import { settled } from './settingsPages.ts';

const id = 'd2hhdGV2ZXItdGhpcy1saW5rLWlzLWNhbGxl';
const nonce = '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60';
const url = `https://pay.teahouse.example/link/${id}`;

export function linkDeskPages(frame: Frame, say: Say): Readonly<Record<string, VNode>> {
  const link: ListedLink = {
    linkId: id,
    type: 'exactOut',
    amount: '12.50',
    minAmount: null,
    maxAmount: null,
    title: say('A pot of Darjeeling'),
    description: say('First flush'),
    source: { chainId: 8453, tokenSymbol: 'USDC' },
    createdAt: ago(50 * hour_ms),
    closedAt: null,
  };
  const free: ListedLink = {
    ...link,
    title: null,
    type: 'exactIn',
    amount: null,
    minAmount: '1.00',
    maxAmount: '10000.00',
    source: null,
  };
  const closed = { ...link, closedAt: ago(hour_ms) };
  const none = { ...frame, links: [], cursor: null, nextCursor: null, mayReuse: true };
  const form = { ...frame, form: emptyForm, nonce, chains, settlement: settled };
  const wrong = {
    values: { amount: say('ten'), minAmount: say('5'), maxAmount: say('1'), source: '1-USDT', type: 'exactIn' },
    errors: { amount: say('must be an amount like 10.00'), maxAmount: say('must be from 5.00 to 10000.00') },
  };
  return {
    links: linksPage({ ...none, links: [link, free, closed], nextCursor: 'c' }),
    linksFirst: linksPage(none),
    linksWallet: linksPage({ ...none, mayReuse: false }),
    linkOne: linkPage({ ...frame, link, url, payments: list(say).slice(0, 3) }),
    linkOneClosed: linkPage({ ...frame, link: closed, url, payments: [] }),
    newReusableLink: newReusableLinkPage(form),
    newReusableLinkWrong: newReusableLinkPage({ ...form, form: wrong }),
    newReusableLinkFirst: newReusableLinkPage({ ...form, settlement: null }),
    confirmClose: confirmPage({
      ...frame,
      danger: { kind: 'closeLink', linkId: id, name: say('A pot of Darjeeling') },
    }),
    ...cashbackPages(frame, say),
  };
}

function cashbackPages(frame: Frame, say: Say): Readonly<Record<string, VNode>> {
  const paid: CashbackMovement = {
    at: ago(hour_ms),
    cents: 250n,
    paymentId: null,
    account: wallet,
    amountLocal: '2.30',
    currencyLocal: 'EUR',
    orderId: say('A-1042'),
    about: say('Two scones'),
  };
  const nothing = { amountLocal: null, currencyLocal: null, orderId: null, about: null };
  const withdrawn = { ...nothing, at: ago(2 * hour_ms), cents: 150_000n, paymentId: nonce, account: null };
  const model = {
    ...frame,
    balance_cents: 123_456,
    received_cents: 273_456,
    withdrawn_cents: 150_000,
    received: 812,
    movements: [paid, { ...paid, ...nothing, at: now }, withdrawn],
    form: emptyForm,
    settlement: settled,
  };
  const none = { balance_cents: 0, received_cents: 0, withdrawn_cents: 0, received: 0, movements: [] };
  const wrong = { values: { amount: say('99999') }, errors: { amount: say('This is more than the balance.') } };
  return {
    cashback: cashbackPage(model),
    cashbackFirst: cashbackPage({ ...model, ...none }),
    cashbackNoWallet: cashbackPage({ ...model, settlement: null }),
    cashbackWrong: cashbackPage({ ...model, form: wrong }),
    confirmWithdraw: confirmPage({
      ...frame,
      danger: { kind: 'withdrawCashback', amount: '1234.56', withdrawalId: nonce, wallet: settled },
    }),
  };
}
