/** Settlement wallet form. POST: chainId, tokenSymbol, receiverAddress, receiverMemo. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { hour_ms, type Instant } from '../../domain/time.ts';
import type { App } from '../../queries/apps.ts';
import { card, copyable, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { address, between, chainName, lengthText, shortAddress, when } from '../parts/cells.ts';
import { type FormState, linkButton, problems, submit, walletFields } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';

export type WalletFields = NonNullable<App['settlement']>;

export interface SettlementModel extends Frame {
  readonly current: WalletFields | null;
  /** A pending change. */
  readonly pending: {
    readonly wallet: WalletFields;
    readonly effectiveAt: Instant;
    readonly requestedAt: Instant | null;
  } | null;
  readonly cooldown_hours: number;
  readonly form: FormState;
  readonly chains: readonly Chain[];
  readonly now: Instant;
}

const names = { chain: 'chainId', token: 'tokenSymbol', address: 'receiverAddress', memo: 'receiverMemo' };

export const settlementPage = (model: SettlementModel): VNode => {
  const { app, current, pending, form, chains } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: sayText('settlement'), section: 'settlement' },
    html`<div class="stack narrow">
      ${card(
        { title: sayText('whereYouArePaid') },
        current ? inside(walletPairs(current)) : empty(sayText('noWalletYet'), sayContent('noWalletYetText')),
      )}
      ${pending && pendingCard(model)}
      ${card(
        { title: sayText(current ? 'anotherWallet' : 'yourWallet') },
        html`<form class="inside" method="post" action=${to.settlement}>
          ${problems(form)}
          ${current && notice('wait', html`<p>${changeText(model)}</p>`)}
          ${walletFields(form, names, chains)}
          <p class="small muted">${sayContent('compareEnds')}</p>
          ${submit(sayContent(current ? 'askForChange' : 'setTheWallet'))}
        </form>`,
      )}
    </div>`,
  );
};

function changeText({ cooldown_hours, pending }: SettlementModel): string {
  const time = lengthText(cooldown_hours * hour_ms);
  const from =
    cooldown_hours > 0
      ? sayText(pending ? 'changeAfterInstead' : 'changeAfter', { time })
      : sayText(pending ? 'changeAtOnceInstead' : 'changeAtOnce');
  return [from, sayText('changeMailed'), sayText('changeKeeps')].join(' ');
}

/** A wallet for comparison: chain, token, the address with emphasised ends. */
export const walletPairs = ({ chainId, tokenSymbol, receiverAddress, receiverMemo }: WalletFields): VNode =>
  pairs([
    [
      sayText('paidIn'),
      html`<strong>${sayContent('onChain', { token: tokenSymbol, chain: chainName(chainId) })}</strong>`,
    ],
    [sayText('address'), copyable(address(receiverAddress), receiverAddress, sayText('address'))],
    receiverMemo === null ? null : [sayText('memo'), html`<span class="mono">${bdi(receiverMemo)}</span>`],
  ]);

function pendingCard({ app, pending, now }: SettlementModel): VNode | null {
  if (!pending) return null;
  const left_ms = between(now, pending.effectiveAt);
  return card(
    {
      title: sayText('changeWaits'),
      note: left_ms > 0 ? sayText('timeLeft', { time: lengthText(left_ms) }) : undefined,
      controls: linkButton(appPaths(app.appId).cancelSettlement, sayContent('cancelIt'), 'danger'),
    },
    inside(html`<div class="rows">
      <p>${effectText(pending)}</p>
      ${walletPairs(pending.wallet)}
      ${notice(
        'wait',
        html`<p>
      <strong>${sayContent('wasItNotYou')}</strong> ${sayContent('cancelThenSessions', { sessions: html`<a href=${paths.sessions}>${sayContent('sessionsInText')}</a>` })}</p>`,
      )}
    </div>`),
  );
}

const effectText = ({ effectiveAt, requestedAt }: NonNullable<SettlementModel['pending']>): Content =>
  requestedAt === null
    ? sayContent('paidOutHereFrom', { time: when(effectiveAt) })
    : sayContent('paidOutHereFromAsked', { time: when(effectiveAt), asked: when(requestedAt) });

// Receiver of payments created by form, and the missing settlement wallet.

export const settlementFirst = (appId: string): VNode =>
  html`<section class="card">${empty(
    sayText('walletFirst'),
    sayContent('walletFirstText'),
    linkButton(appPaths(appId).settlement, sayContent('setAWallet'), 'primary'),
  )}</section>`;

export const paidOutTo = ({ tokenSymbol, chainId, receiverAddress }: WalletFields): VNode =>
  html`<p class="small muted">
    ${sayContent('paidOutAs', { token: tokenSymbol, chain: chainName(chainId), address: shortAddress(receiverAddress) })}
  </p>`;
