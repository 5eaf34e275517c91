/** A stranger registers an app. POST: email, displayName, kind (merchant or wallet), slug, settlementChainId, settlementTokenSymbol, settlementAddress, settlementMemo, webhookUrl. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface RegisterModel extends Outer {
  readonly form: FormState;
  /** Where the app can be paid out. */
  readonly chains: readonly Chain[];
}

export const registerPage = (model: RegisterModel): VNode =>
  html`<html lang="en"><head><title>register</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
