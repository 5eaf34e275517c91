/** An app, its requests, and the dependencies that create its payments. */
import assert from 'node:assert/strict';
import {
  type AppSettings,
  type CreatePaymentDeps,
  createPayment,
  type NewPayment,
} from '../../commands/createPayment.ts';
import { isRefusal } from '../../domain/decider.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { randomIds } from '../../src/process/system.ts';
import { merchantWallet, treasuryAccount } from '../support/payments.ts';
import { freePayouts } from '../support/payoutCosts.ts';
import { processes } from '../support/processes.ts';

export const wallet: AppSettings = {
  appId: 'wallet_demo',
  idSalt: 'a1'.repeat(32),
  webhookUrl: 'https://wallet.example/hook',
  settlement: null,
};
export const merchant: AppSettings = {
  appId: 'merchant_demo',
  idSalt: 'b2'.repeat(32),
  webhookUrl: null,
  settlement: { chainId: 137, tokenSymbol: 'USDC', receiverAddress: merchantWallet, receiverMemo: null },
};

const display = { title: 'Coffee', description: null, currency: 'USD' };
/** Base USDC to Ethereum USDC, the receiver gets 10.00. */
export const order = (over: Partial<NewPayment> = {}): NewPayment => ({
  appId: wallet.appId,
  orderId: 'order-1',
  type: 'exactOut',
  intent: null,
  display,
  metadata: { table: '7' },
  source: { chainId: 8453, tokenSymbol: 'USDC' },
  destination: { chainId: '1', tokenSymbol: 'USDC', amount: '10.00', receiverAddress: merchantWallet },
  ...over,
});
/** A merchant's order: 10.00 arrive on Base. */
export const sale = (over: Partial<NewPayment> = {}): NewPayment =>
  order({
    appId: merchant.appId,
    type: 'exactIn',
    source: { chainId: 8453, tokenSymbol: 'USDC', amount: '10.00' },
    destination: null,
    ...over,
  });

const caller = { keyless: false, cause: 'key:k1', requestId: 'request-1' } as const;

export function world(over: Partial<CreatePaymentDeps> = {}) {
  const { start, ...rest } = processes();
  const deps: CreatePaymentDeps = {
    handle: start(),
    clock: rest.clock,
    ids: randomIds,
    addresses: familyAddresses,
    deposits: { evm: createEvmDeposits({ treasury: treasuryAccount }) },
    canReceive: {},
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
    payoutCostOf: freePayouts,
    offers: ({ family }) => family === 'evm',
    checkRoute: () => undefined,
    ...over,
  };
  const create = (request: NewPayment, app = wallet, more: Partial<CreatePaymentDeps> = {}) =>
    createPayment({ ...deps, ...more }, request, app, caller);
  const createKeyless = (request: NewPayment, more: Partial<CreatePaymentDeps> = {}) =>
    createPayment({ ...deps, ...more }, request, wallet, { keyless: true, cause: 'keyless' });
  return { ...rest, deps, start, create, createKeyless, deposits: deps.deposits };
}

/** Returns `code pointer` of a refusal. */
export async function refusal(
  request: NewPayment,
  app = wallet,
  over: Partial<CreatePaymentDeps> = {},
): Promise<string> {
  const { create, store } = world(over);
  const answer = await create(request, app);
  assert.ok(isRefusal(answer), 'refused');
  assert.ok(answer.message.length > 20, 'says what is wrong and what to do');
  assert.equal(await store.tail(), 0n, 'nothing is written');
  return answer.pointer === undefined ? answer.refused : `${answer.refused} ${answer.pointer}`;
}
