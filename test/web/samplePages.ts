/** Every page with the data of an ordinary day, of the first day, and after faults. */
import type { VNode } from 'preact';
import type { AppName, Frame, Mode } from '../../web/parts/frame.ts';
import { developerPages } from './samples/developerPages.ts';
import { linkDeskPages } from './samples/linkDeskPages.ts';
import { operatorPages } from './samples/operatorPages.ts';
import { outerPages } from './samples/outerPages.ts';
import { paymentPages } from './samples/paymentPages.ts';
import type { Say } from './samples/payments.ts';
import { settingsPages } from './samples/settingsPages.ts';

/** Pages by name. @param say returns the texts of other people: specs replace them by hostile ones */
export function samplePages(mode: Mode = 'sandbox', say: Say = (text) => text): Readonly<Record<string, VNode>> {
  const app: AppName = { appId: 'merchant_teahouse', name: say('Tea House') };
  const apps: readonly AppName[] = [app, { appId: 'wallet_pocket', name: say('Pocket') }];
  const frame: Frame = { mode, person: say('ada@teahouse.example'), flash: null, app, apps, logoUrl: null, unread: 3 };
  return {
    ...outerPages(mode, apps, say),
    ...paymentPages(frame, say),
    ...settingsPages(frame, say),
    ...developerPages(frame, say),
    ...linkDeskPages(frame, say),
    ...operatorPages(mode, say),
  };
}
