/** Front page of an installation: its purpose, the first steps, its chains, fee and state. */

import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import { card, chip, inside, pairs } from '../parts/boxes.ts';
import { linkButton } from '../parts/field.ts';
import type { Outer, Site } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';

/** State of the installation; unknown if its checks did not answer. */
export type ServiceState = 'accepting' | 'notAccepting' | 'unknown';

export interface FrontModel extends Outer, Pick<Site, 'chains' | 'fee' | 'registrationOpen'> {
  readonly state: ServiceState;
  /** Ids of chains that new payments cannot use at present. */
  readonly behind: ReadonlySet<number>;
}

export const frontPage = (model: FrontModel): VNode =>
  outerPage(
    model,
    'Payment Intents: stablecoin payments between chains',
    html`<div class="front">
      <link rel="stylesheet" href=${paths.asset('front.css')} />
      <section class="welcome">
        <h1>Your customer pays on one chain. You are paid on another.</h1>
        <p class="muted">Payment Intents accepts a stablecoin payment, waits until it is final, and pays it out to your own wallet on the
        chain that you choose. Too much, too little or the wrong token is kept safe for its sender.</p>
        <div class="controls">${entrance(model)}${linkButton('/docs', 'Read the docs')}</div>
      </section>
      <ol class="way-of-money">${steps.map(
        ([title, text]) =>
          html`<li class="card">${inside(html`<div><h2>${title}</h2><p class="muted">${text}</p></div>`)}</li>`,
      )}</ol>
      <div class="halves">
        ${card({ title: 'Chains', note: stateOf(model.state) }, chainList(model))}
        ${card(
          { title: 'Fee and limits' },
          inside(html`<div class="rows">
            ${pairs([
              ['Fee', feeText(model.fee)],
              [
                'Network costs',
                'Payers pay for their own transfer. The fee is at least the network cost of your payout.',
              ],
              ['Your keys', 'Payouts go to a wallet whose keys you hold. No API key can change it.'],
            ])}
            <ul class="further">
              <li><a href="/docs/guides/five-minutes">A payment in five minutes</a></li>
              <li><a href="/docs">API reference</a></li>
              <li><a href="/docs/guides/statuses">Meaning of each status</a></li>
              <li><a href="/docs/guides/limits">Limits</a></li>
            </ul></div>`),
        )}
      </div>
    </div>`,
    true,
  );

const steps: readonly (readonly [title: string, text: string])[] = [
  ['Create', 'Your server or the dashboard creates a payment. Its link has a page with a QR code, in five languages.'],
  [
    'Receive',
    'The customer sends the stablecoin from any supported chain. The page follows the transfer until it is final.',
  ],
  ['Be paid', 'The amount arrives in your wallet. A signed webhook reports it, and the event log proves it.'],
];

const entrance = ({ person, registrationOpen }: FrontModel): Content => {
  if (person !== null) return linkButton(paths.home, 'To your apps', 'primary');
  const signIn = linkButton(paths.signIn, 'Sign in', registrationOpen ? 'plain' : 'primary');
  return registrationOpen ? [linkButton(paths.register, 'Register an app', 'primary'), signIn] : signIn;
};

const states = {
  accepting: ['ok', 'Accepts payments'],
  notAccepting: ['bad', 'Not accepting payments at present'],
  unknown: ['wait', 'State unknown at present'],
} as const;

function stateOf(state: ServiceState): VNode {
  const [kind, word] = states[state];
  return chip(kind, word);
}

const chainList = ({ chains, behind }: FrontModel): VNode =>
  html`<ul class="list chains">${chains.map(
    (chain) => html`<li><strong>${chain.name}</strong><span class="muted">${tokensOf(chain)}</span>
    ${behind.has(chain.id) && chip('wait', 'Delayed at present')}</li>`,
  )}</ul>`;

const tokensOf = ({ tokens }: Chain): string => tokens.map(({ symbol }) => symbol).join(', ');

/** Such as "0.01 USD and 0.5 %". */
export function feeText({ fixed_microUsd, basisPoints }: Site['fee']): string {
  const percent = basisPoints === 0 ? null : `${formatAmount(BigInt(basisPoints), 2)} % of the amount`;
  const fixed = fixed_microUsd === 0n ? null : `${formatAmount(fixed_microUsd, microUsdDecimals)} USD`;
  return [fixed, percent].filter((part) => part !== null).join(' and ') || 'None';
}
