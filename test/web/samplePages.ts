/** Every page, filled as on an ordinary day, on the first day, and after things went wrong. */
import type { VNode } from 'preact';
import type { AppName, Frame, Mode } from '../../web/parts/frame.ts';
import { developerPages } from './samples/developerPages.ts';
import { linkDeskPages } from './samples/linkDeskPages.ts';
import { operatorPages } from './samples/operatorPages.ts';
import { outerPages } from './samples/outerPages.ts';
import { paymentPages } from './samples/paymentPages.ts';
import type { Say } from './samples/payments.ts';
import { settingsPages } from './samples/settingsPages.ts';

/** By name. @param say makes the texts of others: specs put hostile ones in their place */
export function samplePages(mode: Mode = 'sandbox', say: Say = (text) => text): Readonly<Record<string, VNode>> {
  const app: AppName = { appId: 'merchant_teahouse', name: say('Tea House') };
  const apps: readonly AppName[] = [app, { appId: 'wallet_pocket', name: say('Pocket') }];
  const frame: Frame = { mode, person: say('ada@teahouse.example'), flash: null, app, apps, logoUrl: null };
  return {
    ...outerPages(mode, apps, say),
    ...paymentPages(frame, say),
    ...settingsPages(frame, say),
    ...developerPages(frame, say),
    ...linkDeskPages(frame, say),
    ...operatorPages(mode, say),
  };
}
