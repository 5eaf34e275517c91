import assert from 'node:assert/strict';
import { fold } from '../../domain/decider.ts';
import type { MerchantEvent, PayFrom } from '../../domain/merchant/events.ts';
import { setPayFrom } from '../../domain/merchant/settings.ts';
import { type MerchantState, merchant } from '../../domain/merchant/state.ts';
import { minute } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(merchant);

const registered: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { appId: 'merchant_demo', developerId: null, idSalt: 'ab'.repeat(32), registeredAt: minute(0) },
};
const base = { chainId: 8453, tokenSymbol: 'USDC' } as const;
const solana = { chainId: 501, tokenSymbol: 'USDC' } as const;
const set = (payFrom: PayFrom): MerchantEvent => ({ type: 'PayFromSet', data: { payFrom } });
const setting = (payFrom: PayFrom) => (state: MerchantState) => setPayFrom(state, payFrom);

describe('the sources that payers of an app may choose', () => {
  it('are empty until they are set, and can be emptied again', () => {
    assert.deepEqual(fold(merchant, [registered]).payFrom, []);
    given([registered])
      .when(setting([base, solana]))
      .then([set([base, solana])]);
    given([registered, set([base])])
      .when(setting([]))
      .then([set([])]);
    given([registered, set([base])])
      .when(setting([base]))
      .thenNothing();
  });

  it('name chains with tokens that they have, each once, of an existing app', () => {
    given([registered])
      .when(setting([base, { chainId: 501, tokenSymbol: 'USDT' }]))
      .thenRefused('invalidRequest', /no such token/);
    given([registered])
      .when(setting([base, base]))
      .thenRefused('invalidRequest', /twice/);
    given([])
      .when(setting([base]))
      .thenRefused('illegalStep');
  });
});
