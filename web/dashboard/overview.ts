/** An app at a glance. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Overview } from '../../queries/overview.ts';
import type { StatsPeriod } from '../../queries/reports.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface OverviewModel extends Frame {
  readonly period: StatsPeriod;
  readonly overview: Overview;
  /** Newest first; a handful. */
  readonly payments: readonly PaymentView[];
  /** What is set up; the page leads through what is not. */
  readonly setUp: { readonly key: boolean; readonly settlement: boolean; readonly webhook: boolean };
  /** Webhooks of the last 24 hours that were not taken. */
  readonly exhausted: number;
  readonly now: Instant;
}

export const overviewPage = (model: OverviewModel): VNode =>
  html`<html lang="en"><head><title>overview</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
