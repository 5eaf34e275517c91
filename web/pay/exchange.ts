/** Paying from an exchange: its fee, its names for networks and memos, and a list to check before the withdrawal is confirmed. */
import type { VNode } from 'preact';
import type { ChainId } from '../../domain/chains.ts';
import { type Content, html } from '../parts/html.ts';
import type { PayModel } from './model.ts';
import { sum } from './sum.ts';

/** In the names of most exchanges. */
const networkNames: Readonly<Record<ChainId, string>> = {
  8453: 'Base',
  56: 'BNB Smart Chain (BEP20)',
  1: 'Ethereum (ERC20)',
  42161: 'Arbitrum One',
  137: 'Polygon PoS',
  501: 'Solana',
  1500: 'Stellar (XLM)',
};

/** Characters of an address that people compare by eye. */
const addressEnd = 6;

/** @param left amount that must arrive, in whole tokens; null if the payer chooses it */
export function exchange({ say, facts }: PayModel, left: string | null): VNode {
  const { payment, situation } = facts;
  const { sourceTokenSymbol: token, depositAddress, depositMemo, sourceChainId, expiresAt } = payment;
  const least = situation.missing?.amount ?? null;
  const end = html`<span class="mono" dir="ltr">…${depositAddress.slice(-addressEnd)}</span>`;
  const checks: Content[] = [
    ...(left !== null ? [say('exchangeAmount', { amount: strong(sum(left, token)) })] : []),
    ...(left === null && least !== null ? [say('exchangeAmountLeast', { amount: strong(sum(least, token)) })] : []),
    say('exchangeToken', { token: strong(token) }),
    say('exchangeNetwork', { network: strong(networkNames[sourceChainId]) }),
    say('exchangeAddress', { end }),
    depositMemo === null
      ? say('exchangeNoMemo')
      : say('exchangeMemo', { memo: html`<strong class="mono" dir="ltr">${depositMemo}</strong>` }),
  ];
  const time = html`<time datetime=${expiresAt} data-local="minutes" dir="auto">${say.time(expiresAt)}</time>`;
  return html`<details class="folded exchange" id="exchange"><summary>${say('exchange')}</summary><div class="checks">
    <p>${say('exchangeText')}</p>
    <fieldset><legend><strong>${say('exchangeCheck')}</strong></legend>${checks.map(
      (check) => html`<label><input type="checkbox" /><span>${check}</span></label>`,
    )}</fieldset>
    <p class="small muted">${say('exchangeTime', { time })}</p>
  </div></details>`;
}

const strong = (content: Content): VNode => html`<strong>${content}</strong>`;
