import assert from 'node:assert/strict';
import { type Keypair, scValToNative, TransactionBuilder } from '@stellar/stellar-sdk';
import { payOnStellar, type StellarOrder } from '../../sandbox/payOnStellar.ts';
import { addFault } from '../../sandbox/stellar/controls.ts';
import { startProxy } from '../chains/proxy.ts';
import { type StellarLab, stellarLab, usdc } from '../support/stellar.ts';

describe('the sandbox’s customer on Stellar', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let customer: Keypair;
  let payinId: string;
  before(async () => {
    lab = await stellarLab({ ledger_ms: 200 });
    [treasury, customer] = [await lab.person(0n), await lab.person()];
    payinId = await lab.deployPayin(treasury, treasury.publicKey());
  });
  after(() => lab.stop());

  const orderOf = (order: Partial<StellarOrder>): StellarOrder => ({
    token: `${usdc.getCode()}:${usdc.getIssuer()}`,
    amount: 1n,
    receiverAddress: treasury.publicKey(),
    receiverMemo: null,
    receiverAddressContract: null,
    receiverMemoContract: null,
    ...order,
  });
  const pay = (order: Partial<StellarOrder>) => payOnStellar(lab.stellar.rpcUrl, customer.secret(), orderOf(order));
  /** Data of the events that one contract published in a transaction. */
  async function told(hash: string, contractId: string): Promise<unknown[]> {
    const got = await lab.server.getTransaction(hash);
    assert.ok(got.status === 'SUCCESS');
    const { events } = await lab.server.getEvents({
      startLedger: got.ledger,
      filters: [{ type: 'contract', contractIds: [contractId] }],
    });
    return events.filter(({ txHash }) => txHash === hash).map(({ value }) => scValToNative(value));
  }

  it('pays into the contract where the payment has one, to the last digit', async () => {
    const before = await lab.balance(treasury.publicKey());
    const hash = await pay({ amount: 12_3456789n, receiverAddressContract: payinId, receiverMemoContract: 'c0ffee' });
    const [{ memo, amount, from }] = (await told(hash, payinId)) as [Record<string, unknown>];
    assert.deepEqual([memo, amount, from], ['c0ffee', 12_3456789n, customer.publicKey()]);
    assert.equal(await lab.balance(treasury.publicKey()), before + 12_3456789n);
  });

  it('pays the address with the memo where the payment has that', async () => {
    const hash = await pay({ amount: 1_0000001n, receiverMemo: '9123456789' });
    assert.deepEqual(await told(hash, lab.usdcId), [{ amount: 1_0000001n, to_muxed_id: '9123456789' }]);
  });

  it('states when it cannot pay', async () => {
    const tooMuch = 100_000_0000000n;
    await assert.rejects(pay({ amount: tooMuch }), /ended as FAILED/);
    const receiverAddressContract = payinId;
    await assert.rejects(pay({ amount: tooMuch, receiverAddressContract, receiverMemoContract: 'm' }), /underfunded/);
    await assert.rejects(pay({ amount: 0n, receiverAddressContract, receiverMemoContract: 'm' }), /Contract, #1/);
  });

  it('sends a payment again for which the node had no room', async () => {
    await addFault(lab.stellar.rpcUrl, { kind: 'tryAgainLater', method: 'sendTransaction' });
    const before = await lab.balance(treasury.publicKey());
    await pay({ amount: 5n, receiverMemo: '78' });
    assert.equal(await lab.balance(treasury.publicKey()), before + 5n);
  });

  for (const [title, terms] of [
    ['a payment', () => ({ receiverMemo: '77' })],
    ['a call of the contract', () => ({ receiverAddressContract: payinId, receiverMemoContract: 'beef' })],
  ] as const)
    it(`pays once with ${title} if the node forgets the first transaction`, async () => {
      let sends = 0;
      const node = await startProxy(lab.stellar.rpcUrl, async (method, params, forward) => {
        if (method !== 'sendTransaction') return forward(method, params);
        sends += 1;
        if (sends > 1) return forward(method, params);
        const { transaction } = params as unknown as { readonly transaction: string };
        const hash = TransactionBuilder.fromXDR(transaction, lab.passphrase).hash().toString('hex');
        return { status: 'PENDING', hash, latestLedger: 1, latestLedgerCloseTime: '1' };
      });
      const before = await lab.balance(treasury.publicKey());
      await payOnStellar(node.url, customer.secret(), orderOf({ amount: 3n, ...terms() }), 2);
      assert.equal(await lab.balance(treasury.publicKey()), before + 3n);
      assert.equal(sends, 2);
    });
});
