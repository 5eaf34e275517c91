import assert from 'node:assert/strict';
import { type Keypair, Operation } from '@stellar/stellar-sdk';
import { addFault, closeLedgers, forgetBefore } from '../../../sandbox/stellar/controls.ts';
import { type StellarLab, stellarLab, usdc } from '../../support/stellar.ts';

describe('local Stellar: faults', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let payer: Keypair;
  before(async () => {
    lab = await stellarLab({ ledger_ms: 'manual' });
    [treasury, payer] = [await lab.person(0n), await lab.person()];
  });
  afterEach(() => lab.stellar.faults.clear());
  after(() => lab.stop());

  const payment = (amount = '1') => Operation.payment({ destination: treasury.publicKey(), asset: usdc, amount });
  const pay = async (amount?: string) => {
    const got = await lab.go(payer, [payment(amount)]);
    assert.equal(got.status, 'SUCCESS');
    return got;
  };
  async function signed() {
    const transaction = await lab.build(payer.publicKey(), [payment()]);
    transaction.sign(payer);
    return transaction;
  }

  const fault = (kind: Parameters<typeof addFault>[1]['kind'], method = 'sendTransaction') =>
    addFault(lab.stellar.rpcUrl, { kind, method });

  it('a dropped transaction is accepted and never lands, unless it is sent again', async () => {
    await fault('drop');
    const transaction = await signed();
    const sent = await lab.server.sendTransaction(transaction);
    assert.equal(sent.status, 'PENDING');
    await closeLedgers(lab.stellar.rpcUrl, 2);
    assert.equal((await lab.server.getTransaction(sent.hash)).status, 'NOT_FOUND');
    assert.equal((await lab.send(transaction)).status, 'SUCCESS');
  });

  it('a lost answer leaves the transaction in the network', async () => {
    await fault('lostAnswer');
    const transaction = await signed();
    await assert.rejects(lab.server.sendTransaction(transaction));
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'DUPLICATE');
    await closeLedgers(lab.stellar.rpcUrl);
    assert.equal((await lab.server.getTransaction(transaction.hash().toString('hex'))).status, 'SUCCESS');
  });

  it('a duplicated request is answered as the second one', async () => {
    await fault('duplicate');
    const transaction = await signed();
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'DUPLICATE');
    await closeLedgers(lab.stellar.rpcUrl);
    assert.equal((await lab.server.getTransaction(transaction.hash().toString('hex'))).status, 'SUCCESS');
  });

  it('events can occur twice in a page', async () => {
    const { ledger } = await pay();
    await fault('duplicate', 'getEvents');
    const filters = [{ type: 'contract' as const, contractIds: [lab.usdcId] }];
    const { events } = await lab.server.getEvents({ startLedger: ledger, filters });
    assert.equal(events.length, 2);
    assert.equal(events[0]?.id, events[1]?.id);
  });

  it('a busy node wants the transaction later', async () => {
    await fault('tryAgainLater');
    const transaction = await signed();
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'TRY_AGAIN_LATER');
    assert.equal((await lab.send(transaction)).status, 'SUCCESS');
  });

  it('a node that is away carries nothing out', async () => {
    await addFault(lab.stellar.rpcUrl, { kind: 'unavailable', method: 'getLedgerEntries', times: 2 });
    for (let times = 0; times < 2; times++) await assert.rejects(lab.server.getLedgerEntries(), /503/);
    assert.equal((await lab.server.getAccount(payer.publicKey())).accountId(), payer.publicKey());
  });

  it('a node whose retention is over refuses the cursor that it gave', async () => {
    const got = await pay();
    const { cursor } = await lab.server.getEvents({ startLedger: got.ledger, filters: [] });
    await closeLedgers(lab.stellar.rpcUrl, 20);
    const { latestLedger } = await lab.server.getHealth();
    await forgetBefore(lab.stellar.rpcUrl, latestLedger - 5);
    await assert.rejects(lab.server.getEvents({ cursor, filters: [] }), (error: { message: string }) => {
      assert.equal(error.message, `startLedger must be within the ledger range: ${latestLedger - 5} - ${latestLedger}`);
      return true;
    });
    assert.equal((await lab.server.getTransaction(got.txHash)).status, 'NOT_FOUND');
    assert.equal((await lab.server.getHealth()).oldestLedger, latestLedger - 5);
    assert.equal((await lab.server.getAccount(payer.publicKey())).accountId(), payer.publicKey());
  });
});
