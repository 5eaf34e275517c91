/** Buyers' credit payments: balance, movements, and withdrawal. POST: amount, which leads to a confirmation. */

import type { VNode } from 'preact';
import type { Ids } from '../../commands/ports.ts';
import type { WithdrawCashback } from '../../commands/withdrawCashback.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { centDecimals } from '../../domain/payment/cashback.ts';
import type { App } from '../../queries/apps.ts';
import type { CashbackMovement } from '../../queries/cashback.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import { amountMax_cents, type CashbackDeps } from '../../src/api/routes/cashback.ts';
import { Decimal, Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty, inside, pairs } from '../parts/boxes.ts';
import { amount, amountText, shortAddress, when } from '../parts/cells.ts';
import { emptyForm, type FormState, problems, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { countContent, sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { confirmPage } from './confirm.ts';
import { fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { paidOutTo, settlementFirst, type WalletFields } from './settlementForm.ts';

export interface CashbackModel extends Frame {
  readonly balance_cents: number;
  readonly received_cents: number;
  readonly withdrawn_cents: number;
  /** Number of payments. */
  readonly received: number;
  /** Newest first. */
  readonly movements: readonly CashbackMovement[];
  readonly form: FormState;
  readonly settlement: WalletFields | null;
}

const dollars = (cents: number | bigint): string => formatAmount(BigInt(cents), centDecimals);

export const cashbackPage = (model: CashbackModel): VNode => {
  const { balance_cents, received_cents, withdrawn_cents, received, movements } = model;
  return appPage(
    model,
    { title: sayText('cashback'), section: 'cashback' },
    html`<div class="stack">
      <div class="pair">
        ${card(
          { title: sayText('balance'), note: sayContent('balanceNote') },
          inside(
            pairs([
              [sayText('toWithdraw'), amount(dollars(balance_cents), 'USD')],
              [
                sayText('received'),
                html`<span>${countContent('amountInPayments', received, { amount: amount(dollars(received_cents), 'USD') })}</span>`,
              ],
              [sayText('withdrawn'), amount(dollars(withdrawn_cents), 'USD')],
            ]),
          ),
        )}
        ${card({ title: sayText('withdraw') }, withdrawal(model))}
      </div>
      ${card(
        { title: sayText('movements'), note: movements.length === 0 ? null : sayContent('theNewest') },
        movements.length > 0 ? movementTable(model) : nothingYet(),
      )}
    </div>`,
  );
};

function withdrawal({ app, form, balance_cents, settlement }: CashbackModel): VNode {
  if (settlement === null) return settlementFirst(app.appId);
  if (balance_cents === 0 && Object.keys(form.errors).length === 0)
    return inside(html`<p class="muted">${sayContent('nothingToWithdraw')}</p>`);
  return html`<form class="inside" method="post" action=${appPaths(app.appId).cashback}>
    ${problems(form)}
    ${textField({
      form,
      name: 'amount',
      label: sayText('amountInDollars'),
      inputmode: 'decimal',
      maxlength: 20,
      pattern: ' *[0-9]+([.][0-9][0-9]?)? *',
      placeholder: dollars(balance_cents),
      hint: sayContent('upTo', { amount: amountText(dollars(balance_cents), 'USD') }),
    })}
    ${paidOutTo(settlement)}
    ${submit(sayContent('goOn'))}
  </form>`;
}

const movementTable = ({ app, movements }: CashbackModel): VNode =>
  table(
    sayText('cashbackMovements'),
    [
      { head: sayText('whatColumn'), kind: 'title' },
      { head: sayText('movementKind'), kind: 'chip' },
      { head: sayText('about'), kind: 'note' },
      { head: sayText('when'), kind: 'when' },
      { head: sayText('amount'), kind: 'number' },
    ],
    movements.map((movement) => [
      movement.paymentId === null
        ? html`<span>${sayContent('fromAccount', { address: shortAddress(movement.account ?? '') })}</span>`
        : html`<a href=${appPaths(app.appId).payment(movement.paymentId)}><strong>${sayContent('withdrawal')}</strong></a>`,
      movement.paymentId === null ? chip('ok', sayText('received')) : chip('idle', sayText('withdrawn')),
      aboutOf(movement),
      when(movement.at),
      amount(`${movement.paymentId === null ? '' : '−'}${dollars(movement.cents)}`, 'USD'),
    ]),
  );

/** Fields that the buyer sent, unchanged. */
function aboutOf({ orderId, about, amountLocal, currencyLocal }: CashbackMovement): VNode | null {
  const local = amountLocal === null ? null : amountText(amountLocal, currencyLocal ?? '');
  const parts = [orderId === null ? null : sayText('orderTitle', { name: orderId }), about, local].filter(
    (part) => part !== null,
  );
  return parts.length === 0 ? null : html`<span>${parts.map((part, place) => [place > 0 && ' · ', bdi(part)])}</span>`;
}

const nothingYet = (): VNode => empty(sayText('nothingCame'), sayContent('nothingCameText'));

// Cashback: balance, movements, and a withdrawal with a confirmation.

/** Needs of the pages of cashback. */
export interface CashbackPagesDeps extends Pick<AccessDeps, 'findApp'> {
  readonly cashback: CashbackDeps;
  readonly withdrawCashback: WithdrawCashback;
  readonly ids: Pick<Ids, 'eventId'>;
}

const path = '/dashboard/apps/{appId}/cashback';
const movementsMax = 100;

export function cashbackPages(deps: CashbackPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { cashback, withdrawCashback, findApp, ids } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const { appId } = visit.visitor;
    const [frame, app, { payments: _, ...account }, movements] = await Promise.all([
      frames.ofApp(visit),
      findApp(appId),
      cashback.of(appId, 1),
      cashback.movements(appId, movementsMax),
    ]);
    const settlement = app?.settlement ?? null;
    return { page: cashbackPage({ ...frame, ...account, movements, form: state, settlement }) };
  };
  const own = async ({ visitor }: Visit<'owner'>): Promise<App> => {
    const app = await findApp(visitor.appId);
    if (!app) throw noSuchPage();
    return app;
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: fields({ amount: Decimal }),
      async act(visit) {
        const { amount } = visit.fields;
        const { settlement: wallet } = await own(visit);
        if (!wallet) return refuse('settlementMissing', 'set a settlement wallet before withdrawing');
        const { balance_cents } = await cashback.of(visit.visitor.appId, 1);
        const cents = readCents(amount, BigInt(balance_cents));
        if (isRefusal(cents)) return cents;
        const danger = { kind: 'withdrawCashback', amount, withdrawalId: ids.eventId(), wallet } as const;
        return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
      },
      again: shown,
    }),
    form({
      path: `${path}/withdraw`,
      audience: 'owner',
      fields: fields({ amount: Decimal, withdrawalId: Uuid }),
      pointers: { '/amount_usd_cents': 'amount' },
      async act(visit) {
        const { amount, withdrawalId } = visit.fields;
        const cents = readCents(amount, BigInt(amountMax_cents));
        if (isRefusal(cents)) return cents;
        // The account in the log decides; a repeated confirmation is one withdrawal.
        const withdrawn = await withdrawCashback(await own(visit), { withdrawalId, cents }, visit.by);
        if (isRefusal(withdrawn)) return withdrawn;
        return { to: appPaths(visit.visitor.appId).payment(withdrawn.paymentId), told: 'withdrawn' };
      },
      again: shown,
    }),
  ];
}

function readCents(text: string, max: bigint): bigint | Refusal {
  const cents = parseAmount(text, centDecimals);
  if (typeof cents !== 'bigint' || cents === 0n)
    return refuse('invalidRequest', 'must be an amount like 10.00, in whole cents', '/amount');
  return cents <= max ? cents : refuse('invalidRequest', 'is more than the balance: withdraw less', '/amount');
}
