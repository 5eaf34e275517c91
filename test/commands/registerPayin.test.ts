import assert from 'node:assert/strict';
import { type RegisterPayinDeps, registerPayin } from '../../commands/recordPayin.ts';
import { isRefusal } from '../../domain/decider.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { canonicalTxHash, familyAddresses } from '../../src/chains/families.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { customerWallet, hashOf, unpaid } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const own = { paymentId: 'p', appId: 'wallet_demo' };
const txHash = hashOf('announced');
const hint = { txHash, fromAddress: customerWallet };

async function world() {
  const store = memoryEventStore();
  const { start, clock, typesIn } = processes({ store });
  await accepted(start()(paymentDecider, 'p', () => unpaid, { cause: 'worker:test', appId: own.appId }));
  const looked: (readonly [string, string])[] = [];
  const lookUp: RegisterPayinDeps['lookUp'] = ({ terms }, sought) => void looked.push([terms.appId, sought]);
  const deps = { handle: start(), clock, addresses: familyAddresses, canonicalTxHash, lookUp };
  return { register: registerPayin.bind(null, deps), looked, store, types: () => typesIn('payment-p') };
}

const by = { cause: 'key:k1' } as const;

describe('registering a payin', () => {
  it('keeps the hint, answers a repeat with the recorded decision, and accepts another', async () => {
    const { register, types, looked } = await world();
    const first = await accepted(register(own, hint, by));
    assert.deepEqual(first.payment.registered, { txHash, senderAddress: customerWallet, isEmpty: false });
    assert.deepEqual(await register(own, hint, by), first);
    const another = hashOf('another');
    const { payment } = await accepted(register(own, { ...hint, txHash: another }, by));
    assert.equal(payment.registered?.txHash, another);
    assert.deepEqual(
      looked.map(([, sought]) => sought),
      [txHash, txHash, another],
    );
    assert.deepEqual(await types(), ['PaymentCreated', 'PayinRegistered', 'PayinRegistered']);
  });

  it('spells the hint like its chain, and searches the transaction each time', async () => {
    const { register, looked, store } = await world();
    const shouted = { txHash: `0x${txHash.slice(2).toUpperCase()}`, fromAddress: customerWallet.toLowerCase() };
    for (const requestId of ['request-1', 'request-2']) await register(own, shouted, { ...by, requestId });
    const [, registered] = await store.read('payment-p');
    assert.deepEqual(registered?.data, {
      txHash,
      senderAddress: customerWallet,
      registeredAt: registered?.metadata.at,
    });
    assert.deepEqual(looked, [
      [own.appId, txHash],
      [own.appId, txHash],
    ]);
  });

  for (const [what, asked, payin, code, pointer] of [
    ['a payment that is not there', { ...own, paymentId: 'none' }, hint, 'paymentNotFound', '/id'],
    ['another app’s payment, alike', { ...own, appId: 'wallet_other' }, hint, 'paymentNotFound', '/id'],
    ['what is no transaction hash of the chain', own, { ...hint, txHash: '5'.repeat(64) }, 'invalidRequest', '/txHash'],
    ['what is no address of the chain', own, { ...hint, fromAddress: 'me' }, 'invalidRequest', '/fromAddress'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { register, looked, types } = await world();
      const refused = await register(asked, payin, by);
      assert.ok(isRefusal(refused));
      assert.deepEqual([refused.refused, refused.pointer], [code, pointer]);
      assert.deepEqual([looked, await types()], [[], ['PaymentCreated']]);
    });
  }
});
