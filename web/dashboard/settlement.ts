/** Where payouts go. POST: chainId, tokenSymbol, receiverAddress, receiverMemo. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { App } from '../../queries/apps.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export type SettlementWallet = NonNullable<App['settlement']>;

export interface SettlementModel extends Frame {
  readonly current: SettlementWallet | null;
  /** A change that waits for its time. */
  readonly pending: {
    readonly wallet: SettlementWallet;
    readonly effectiveAt: Instant;
    readonly requestedAt: Instant | null;
  } | null;
  readonly cooldown_hours: number;
  readonly form: FormState;
  readonly chains: readonly Chain[];
  readonly now: Instant;
}

export const settlementPage = (model: SettlementModel): VNode =>
  html`<html lang="en"><head><title>settlement</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
