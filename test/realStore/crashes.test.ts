/** The service is killed at chosen points while the store lives on: at least one before and one after an append of each worker. */
import { backgroundWorkersSurviveCrashes } from '../e2e/backgroundCrashes.ts';
import { batchesSurviveCrashes } from '../e2e/batches.ts';
import { cashbackSurvivesCrashes } from '../e2e/cashback.ts';
import { survivesChainCrashes } from '../e2e/chainCrashes.ts';
import { survivesCrashes } from '../e2e/crashes.ts';
import { sweepsSurviveCrashes } from '../e2e/sweeps.ts';
import { survivesTransferCrashes } from '../e2e/transferCrashes.ts';
import { describeWorldOnRealStore } from '../support/realEventStore.ts';
import { gateCases } from '../support/suite.ts';

/** In the gate: after an append of the payins and of the webhooks, and around the signature of a payout. test/e2e/crashes.test.ts has each append of money. */
const gatePoints: ReadonlySet<string> = new Set([
  'PayinConfirmed+PaymentFunded.afterAppend',
  'PayoutSigned.beforeAppend',
  'PayoutSigned.afterAppend',
  'WebhookSendStarted.afterAppend',
]);

describeWorldOnRealStore('kill -9 with payments in flight', (eventStoreUrl) => {
  const points = [
    'PaymentCreated.afterAppend',
    'PayinDetected.beforeAppend',
    'payins.afterCheckpoint#9',
    'PayinConfirmed+PaymentFunded.afterAppend',
    'NonceAssigned.afterAppend',
    'PayoutSigned.beforeAppend',
    'PayoutSigned.afterAppend',
    'PayoutConfirmed.afterAppend',
    'WebhookSendStarted.afterAppend',
    'WebhookDelivered.beforeAppend',
    'projections.work.beforeCommit#5',
    'projections.reports.afterCommit#5',
  ];
  survivesCrashes({ points: gateCases(points, (point) => gatePoints.has(point)), eventStoreUrl });
});

/** The gate has the crashes of payments on EVM chains. On the embedded node it has those of other chains, refunds and withdrawals too. */
const rarer: readonly [string, (eventStoreUrl: () => string) => void][] = [
  [
    'kill -9 with payments between Stellar and Solana in flight',
    (eventStoreUrl) =>
      survivesChainCrashes({
        rounds: [
          { point: 'PayinDetected+PayinConfirmed+PaymentFunded.afterAppend', from: 1500, to: 501 },
          { point: 'PayoutSigned.afterAppend', from: 1500, to: 501 },
          { point: 'PayinConfirmed+PaymentFunded.beforeAppend', from: 501, to: 1500 },
          { point: 'NonceAssigned.afterAppend', from: 501, to: 1500 },
        ],
        eventStoreUrl,
      }),
  ],
  [
    'kill -9 with a refund and a withdrawal on their way',
    (eventStoreUrl) =>
      survivesTransferCrashes({
        points: {
          refund: ['refund.beforeBroadcast', 'RefundConfirmed.afterAppend'],
          withdrawal: ['withdrawal.beforeBroadcast', 'OperationConfirmed.afterAppend'],
        },
        eventStoreUrl,
      }),
  ],
  ['kill -9 with cashback on its way', (eventStoreUrl) => cashbackSurvivesCrashes({ eventStoreUrl })],
  [
    'kill -9 with a sweep on its way',
    (eventStoreUrl) =>
      sweepsSurviveCrashes({
        rounds: [
          { chainId: 8453, point: 'sweep.afterBroadcast' },
          { chainId: 1, point: null },
        ],
        eventStoreUrl,
      }),
  ],
  ['kill -9 with payouts that are put together', (eventStoreUrl) => batchesSurviveCrashes({ eventStoreUrl })],
  [
    'kill -9 in the workers that no payer waits for',
    (eventStoreUrl) => backgroundWorkersSurviveCrashes({ eventStoreUrl }),
  ],
];
for (const [title, specs] of gateCases(rarer, () => false)) describeWorldOnRealStore(title, specs);
