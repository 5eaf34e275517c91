/** Receiver of payments created by form, and the missing settlement wallet. */
import type { VNode } from 'preact';
import { empty } from '../parts/boxes.ts';
import { chainName, shortAddress } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import { html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import type { WalletFields } from './settlementForm.ts';

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
