/** An app's amount policy, set by its owner, and its fees, set by the operator. */

import type { FeeTier, MerchantEvent } from '../../domain/merchant/events.ts';
import { removeFee, setFee, setPolicy } from '../../domain/merchant/settings.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { type AmountPolicy, holdAll } from '../../domain/payment/amountPolicy.ts';
import { minute } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(merchant);
const registered: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { appId: 'merchant_shop', developerId: null, idSalt: 'cd'.repeat(32), registeredAt: minute(0) },
};

describe('an app’s policy', () => {
  const policy = (changed: Partial<AmountPolicy>): AmountPolicy => ({ ...holdAll, ...changed });
  const set = (changed: Partial<AmountPolicy>): MerchantEvent => ({ type: 'PolicySet', data: policy(changed) });
  const tolerance = (basisPoints: number, most_microUsd: string) => ({ tolerance: { basisPoints, most_microUsd } });

  it('is set as a whole; the same values again change nothing', () => {
    given([registered])
      .when((app) => setPolicy(app, policy({ over: 'refund' })))
      .then([set({ over: 'refund' })]);
    given([registered])
      .when((app) => setPolicy(app, holdAll))
      .thenNothing();
    given([registered, set({ over: 'refund' })])
      .when((app) => setPolicy(app, holdAll))
      .then([set({})]);
  });

  it('tolerates within bounds, by share and by sum together', () => {
    const refused = (changed: Partial<AmountPolicy>, about: RegExp) =>
      given([registered])
        .when((app) => setPolicy(app, policy(changed)))
        .thenRefused('invalidRequest', about);
    refused(tolerance(1_001, '1'), /0 to 1000/);
    refused(tolerance(1.5, '1'), /whole number/);
    refused(tolerance(10, '1000000001'), /1000 dollars/);
    refused(tolerance(10, '0'), /both/);
    refused(tolerance(0, '10'), /both/);
    given([registered])
      .when((app) => setPolicy(app, policy(tolerance(1_000, '1000000000'))))
      .then([set(tolerance(1_000, '1000000000'))]);
  });

  it('states for how long late money is accepted, and only then', () => {
    const late = (lateWithin_minutes: number, verdict: AmountPolicy['late'] = 'accept') =>
      given([registered]).when((app) => setPolicy(app, policy({ late: verdict, lateWithin_minutes })));
    late(0).thenRefused('invalidRequest', /for how long/);
    late(10_081).thenRefused('invalidRequest', /10080/);
    late(30, 'refund').thenRefused('invalidRequest', /not accepted/);
    late(10_080).then([set({ late: 'accept', lateWithin_minutes: 10_080 })]);
  });
});

describe('an app’s fees', () => {
  const tier = (changed: Partial<FeeTier> = {}): FeeTier => ({
    sourceChainId: 8453,
    destinationChainId: null,
    fixed_microUsd: '5000',
    basisPoints: 5,
    belowCost: false,
    ...changed,
  });
  const set = (...fees: FeeTier[]): MerchantEvent => ({ type: 'FeesSet', data: { fees } });

  it('are one for each route: another one replaces it', () => {
    const [base, all] = [tier(), tier({ sourceChainId: null })];
    given([registered, set(base)])
      .when((app) => setFee(app, all))
      .then([set(base, all)]);
    given([registered, set(base, all)])
      .when((app) => setFee(app, tier({ basisPoints: 7 })))
      .then([set(all, tier({ basisPoints: 7 }))]);
    given([registered, set(base)])
      .when((app) => setFee(app, tier()))
      .thenNothing();
  });

  it('are bounded, and never negative', () => {
    const refused = (changed: Partial<FeeTier>) =>
      given([registered])
        .when((app) => setFee(app, tier(changed)))
        .thenRefused('invalidRequest');
    for (const changed of [
      { basisPoints: -1 },
      { basisPoints: 1_001 },
      { basisPoints: 0.5 },
      { fixed_microUsd: '10000001' },
    ])
      refused(changed);
  });

  it('depend on the route; removing a missing one is refused', () => {
    const route = { sourceChainId: 8453, destinationChainId: null } as const;
    given([registered, set(tier())])
      .when((app) => removeFee(app, route))
      .then([set()]);
    given([registered])
      .when((app) => removeFee(app, route))
      .thenRefused('notFound');
  });
});
