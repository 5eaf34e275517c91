/** Settlement wallet form. POST: chainId, tokenSymbol, receiverAddress, receiverMemo. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { hour_ms, type Instant } from '../../domain/time.ts';
import type { App } from '../../queries/apps.ts';
import { card, copyable, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { address, between, chainName, lengthText, when } from '../parts/cells.ts';
import { type FormState, linkButton, problems, submit, walletFields } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';

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
    { title: 'Settlement', section: 'settlement' },
    html`<div class="stack narrow">
      ${card(
        { title: 'Where you are paid' },
        current
          ? inside(walletPairs(current))
          : empty(
              'No wallet yet',
              'Each payment is paid out to one wallet of yours, on the chain and in the token that you choose. The first one counts at once.',
            ),
      )}
      ${pending && pendingCard(model)}
      ${card(
        { title: current ? 'Another wallet' : 'Your wallet' },
        html`<form class="inside" method="post" action=${to.settlement}>
          ${problems(form)}
          ${current && notice('wait', html`<p>${changeText(model)}</p>`)}
          ${walletFields(form, names, chains)}
          <p class="small muted">Compare the first and the last four characters with your wallet. What is sent to a
          wrong address cannot be fetched back by anybody.</p>
          ${submit(current ? 'Ask for the change' : 'Set the wallet')}
        </form>`,
      )}
    </div>`,
  );
};

function changeText({ cooldown_hours, pending }: SettlementModel): string {
  const from = cooldown_hours > 0 ? `after ${lengthText(cooldown_hours * hour_ms)}` : 'at once';
  const instead = pending ? ' and replaces the waiting change' : '';
  return [
    `A change takes effect ${from}${instead}.`,
    'We e-mail you and you can cancel until then, so an intruder cannot redirect your money.',
    'Existing payments keep the wallet that they were created with.',
  ].join(' ');
}

/** A wallet for comparison: chain, token, the address with emphasised ends. */
export const walletPairs = ({ chainId, tokenSymbol, receiverAddress, receiverMemo }: WalletFields): VNode =>
  pairs([
    ['Paid in', html`<strong>${tokenSymbol} on ${chainName(chainId)}</strong>`],
    ['Address', copyable(address(receiverAddress), receiverAddress, 'Address')],
    receiverMemo === null ? null : ['Memo', html`<span class="mono">${bdi(receiverMemo)}</span>`],
  ]);

function pendingCard({ app, pending, now }: SettlementModel): VNode | null {
  if (!pending) return null;
  const left_ms = between(now, pending.effectiveAt);
  return card(
    {
      title: 'A change waits',
      note: left_ms > 0 ? `${lengthText(left_ms)} left` : undefined,
      controls: linkButton(appPaths(app.appId).cancelSettlement, 'Cancel it…', 'danger'),
    },
    inside(html`<div class="rows">
      <p>From ${when(pending.effectiveAt)} on, new payments are paid out
      here${pending.requestedAt !== null && html`<span>; asked for ${when(pending.requestedAt)}</span>`}.</p>
      ${walletPairs(pending.wallet)}
      ${notice(
        'wait',
        html`<p>
      <strong>Was it not you?</strong> Cancel it, then end all other <a href=${paths.sessions}>sessions</a>.</p>`,
      )}
    </div>`),
  );
}
