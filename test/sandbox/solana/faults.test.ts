import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import type { SolanaFault } from '../../../sandbox/faults.ts';
import { addFault, clearFaults, expireBlockhashes } from '../../../sandbox/solana/controls.ts';
import { type SolanaLab, solanaLab } from '../../support/solana.ts';

describe('local Solana: faults', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
    lab.solana.advanceSlots(5);
  });
  beforeEach(() => clearFaults(lab.solana.rpcUrl));
  after(() => lab.stop());
  const fault = (each: SolanaFault) => addFault(lab.solana.rpcUrl, each);
  async function payment(amount = 5n) {
    const to = Keypair.generate().publicKey;
    return { to, transaction: await lab.signed(payer, await lab.payment({ from: payer, to, amount })) };
  }
  async function statusOf(signature: string) {
    const { value } = await lab.connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    return value[0];
  }
  const bytesOf = (transaction: Awaited<ReturnType<typeof payment>>['transaction']) =>
    Buffer.from(transaction.serialize()).toString('base64');
  const send = (transaction: Awaited<ReturnType<typeof payment>>['transaction']) =>
    lab.call('sendTransaction', bytesOf(transaction), { encoding: 'base64', preflightCommitment: 'processed' });

  it('drop: the node names the transaction and forgets it; sent again it lands', async () => {
    const { to, transaction } = await payment();
    await fault({ kind: 'drop', method: 'sendTransaction' });
    const signature = await lab.send(transaction);
    assert.equal(await statusOf(signature), null);
    assert.equal(await lab.send(transaction), signature);
    assert.equal(await lab.balance(to), 5n);
  });

  it('drop, and its blockhash expires: it never lands', async () => {
    const { to, transaction } = await payment();
    await fault({ kind: 'drop', method: 'sendTransaction' });
    const signature = await lab.send(transaction);
    await expireBlockhashes(lab.solana.rpcUrl);
    await lab.send(transaction, { skipPreflight: true });
    assert.equal(await statusOf(signature), null);
    await assert.rejects(lab.balance(to), /could not find account/);
  });

  it('lostAnswer: the caller gets no answer, the transaction lands', async () => {
    const { to, transaction } = await payment();
    await fault({ kind: 'lostAnswer', method: 'sendTransaction' });
    await assert.rejects(send(transaction), TypeError);
    assert.equal(await lab.balance(to), 5n);
  });

  it('lostAnswer: every answer is lost, a refusal too', async () => {
    const { to, transaction } = await payment(10n ** 15n);
    await fault({ kind: 'lostAnswer', method: 'sendTransaction' });
    await assert.rejects(send(transaction), TypeError);
    await assert.rejects(lab.balance(to), /could not find account/);
  });

  it('duplicate: the transaction arrives twice and moves money once', async () => {
    const { to, transaction } = await payment();
    await fault({ kind: 'duplicate', method: 'sendTransaction' });
    const { error } = await send(transaction);
    assert.equal(error?.code, -32002);
    assert.match(error?.message ?? '', /already been processed/);
    assert.equal(await lab.balance(to), 5n);
  });

  it('unavailable: HTTP 503, nothing is carried out', async () => {
    const { to, transaction } = await payment();
    await fault({ kind: 'unavailable', method: 'sendTransaction' });
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [bytesOf(transaction), { encoding: 'base64' }],
    };
    assert.equal((await lab.post(body)).status, 503);
    await assert.rejects(lab.balance(to), /could not find account/);
  });

  it('lagging: a node returns the past, states that it is behind, and accepts nothing', async () => {
    const { to, transaction } = await payment();
    const head = await lab.connection.getSlot('processed');
    await fault({ kind: 'lagging', method: '*', slots: 3, times: 4 });
    assert.equal(await lab.connection.getSlot('processed'), head - 3);
    const behind = { code: -32005, message: 'Node is behind by 3 slots', data: { numSlotsBehind: 3 } };
    assert.deepEqual((await lab.call('getHealth')).error, behind);
    assert.match((await send(transaction)).error?.message ?? '', /Blockhash not found|Node is behind/);
    const signature = await lab.send(transaction, { skipPreflight: true });
    assert.equal(await lab.connection.getSlot('processed'), head);
    assert.equal(await statusOf(signature), null);
    await assert.rejects(lab.balance(to), /could not find account/);
  });

  it('lagging: later transactions and balances are missing', async () => {
    const { to, transaction } = await payment();
    lab.solana.advanceSlots(2);
    const signature = await lab.send(transaction);
    await fault({ kind: 'lagging', method: '*', slots: 2, times: 2 });
    assert.equal(await statusOf(signature), null);
    await assert.rejects(lab.balance(to), /could not find account/);
    assert.ok(await statusOf(signature));
    assert.equal(await lab.balance(to), 5n);
  });

  it('happen as often as requested, to the named method, until they are cleared', async () => {
    await fault({ kind: 'unavailable', method: 'getBlockHeight', times: 2 });
    const statusFor = async (method: string) => (await lab.post({ jsonrpc: '2.0', id: 1, method, params: [] })).status;
    assert.equal(await statusFor('getSlot'), 200);
    assert.equal(await statusFor('getBlockHeight'), 503);
    assert.equal(await statusFor('getBlockHeight'), 503);
    assert.equal(await statusFor('getBlockHeight'), 200);
    await fault({ kind: 'unavailable', method: '*', times: 9 });
    assert.equal(await statusFor('getSlot'), 503);
    await clearFaults(lab.solana.rpcUrl);
    assert.equal(await statusFor('getSlot'), 200);
  });
});
