/** Receiver of payments created by form, and the missing settlement wallet. */
import type { VNode } from 'preact';
import { empty } from '../parts/boxes.ts';
import { chainName, shortAddress } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import { html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import type { WalletFields } from './settlementForm.ts';

export const settlementFirst = (appId: string): VNode =>
  html`<section class="card">${empty(
    'First say where you are paid',
    'A payment is paid out to your wallet as soon as it has arrived. Without a wallet there would be nowhere to pay it out to.',
    linkButton(appPaths(appId).settlement, 'Set a wallet', 'primary'),
  )}</section>`;

export const paidOutTo = ({ tokenSymbol, chainId, receiverAddress }: WalletFields): VNode =>
  html`<p class="small muted">
    Paid out as ${tokenSymbol} on ${chainName(chainId)} to your wallet ${shortAddress(receiverAddress)}.
  </p>`;
