import { gateCases } from '../support/suite.ts';
import { crashPoints, survivesCrashes } from './crashes.ts';

/**
 * Before and after each append that moves money, and each broadcast: a signed payout is stored at `payout.beforeBroadcast`. One crash interrupts
 * a webhook.
 */
const gatePoints: ReadonlySet<string> = new Set([
  'PayinConfirmed+PaymentFunded.beforeAppend',
  'PayinConfirmed+PaymentFunded.afterAppend',
  'PayoutSigned.beforeAppend',
  'payout.beforeBroadcast',
  'payout.afterBroadcast',
  'PayoutConfirmed.afterAppend',
  'WebhookSendStarted.afterAppend',
]);

describe('kill -9 with payments in flight', () => {
  survivesCrashes({ points: gateCases(crashPoints, (point) => gatePoints.has(point)) });
});
