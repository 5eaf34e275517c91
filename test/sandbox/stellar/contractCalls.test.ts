import assert from 'node:assert/strict';
import { contract, type Keypair, Operation, rpc, scValToNative } from '@stellar/stellar-sdk';
import { payin } from '../../../contracts/stellar/artifacts/payin.ts';
import { addressArg, i128Arg, payCall, type StellarLab, stellarLab, stringArg } from '../../support/stellar.ts';

type Pay = (order: { sender: string; amount: bigint; memo: string }) => Promise<contract.AssembledTransaction<unknown>>;
interface PayinClient {
  readonly pay: Pay;
  readonly destination: () => Promise<contract.AssembledTransaction<string>>;
}

describe('local Stellar: contract calls', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let payer: Keypair;
  let payinId: string;
  before(async () => {
    lab = await stellarLab();
    [treasury, payer] = [await lab.person(0n), await lab.person()];
    payinId = await lab.deployPayin(treasury, treasury.publicKey());
  });
  after(() => lab.stop());

  it('are simulated, assembled, signed, sent and polled with the plain SDK', async () => {
    const before = await lab.balance(treasury.publicKey());
    const call = payCall(payinId, payer.publicKey(), 12_3400000n, 'memo-1');
    const transaction = await lab.build(payer.publicKey(), [call]);
    const simulated = await lab.server.simulateTransaction(transaction);
    assert.ok(rpc.Api.isSimulationSuccess(simulated));
    const published = simulated.events.filter((event) => event.event().type().name === 'contract');
    assert.equal(published.length, 2);
    const assembled = rpc.assembleTransaction(transaction, simulated).build();
    assembled.sign(payer);
    const got = await lab.send(assembled);
    assert.equal(got.status, 'SUCCESS');
    assert.equal(await lab.balance(treasury.publicKey()), before + 12_3400000n);
  });

  it('state a payment in the contract event and in the token event, in one operation', async () => {
    const got = await lab.call(payer, payinId, 'pay', addressArg(payer.publicKey()), i128Arg(25n), stringArg('memo-2'));
    assert.equal(got.status, 'SUCCESS');
    const { events } = await lab.server.getEvents({ startLedger: got.ledger, filters: [] });
    const [fee, transfer, payment] = events;
    assert.ok(fee && transfer && payment);
    assert.equal(scValToNative(fee.topic[0]!), 'fee');
    assert.deepEqual(transfer.topic.map(scValToNative).slice(0, 3), [
      'transfer',
      payer.publicKey(),
      treasury.publicKey(),
    ]);
    assert.equal(transfer.contractId?.contractId(), lab.usdcId);
    assert.equal(payment.contractId?.contractId(), payinId);
    assert.deepEqual(payment.topic.map(scValToNative), ['payment', payer.publicKey()]);
    assert.deepEqual(scValToNative(payment.value), {
      amount: 25n,
      destination: treasury.publicKey(),
      from: payer.publicKey(),
      memo: 'memo-2',
    });
    assert.deepEqual(
      [transfer, payment].map((e) => [e.transactionIndex, e.operationIndex]),
      [
        [1, 0],
        [1, 0],
      ],
    );
  });

  it('work through the client that reads the contract from the chain', async () => {
    const client = await clientOf(payer);
    const pay = await client.pay({ sender: payer.publicKey(), amount: 1_0000000n, memo: 'memo-3' });
    const sent = await pay.signAndSend();
    assert.equal(sent.getTransactionResponse?.status, 'SUCCESS');
    assert.equal((await client.destination()).result, treasury.publicKey());
  });

  it('are refused by the contract when the amount is not more than zero', async () => {
    const client = await clientOf(payer);
    for (const amount of [0n, -1n, -(2n ** 100n)]) {
      const pay = await client.pay({ sender: payer.publicKey(), amount, memo: 'memo-4' });
      const error = (pay.result as { unwrapErr(): { message: string } }).unwrapErr();
      assert.equal(error.message, 'amount must be more than zero');
    }
  });

  it('pass amounts beyond 64 bits to the token, which has not that much', async () => {
    const transaction = await lab.build(payer.publicKey(), [payCall(payinId, payer.publicKey(), 2n ** 90n, 'memo')]);
    const simulated = await lab.server.simulateTransaction(transaction);
    assert.ok(rpc.Api.isSimulationError(simulated));
    assert.match(simulated.error, /Error\(Contract, #10\).*underfunded/s);
  });

  it('fail in simulation with the reason: unknown contract, function, arguments', async () => {
    const errorOf = async (name: string, ...args: ReturnType<typeof i128Arg>[]) => {
      const operation = Operation.invokeContractFunction({ contract: payinId, function: name, args });
      const simulated = await lab.server.simulateTransaction(await lab.build(payer.publicKey(), [operation]));
      assert.ok(rpc.Api.isSimulationError(simulated));
      return simulated.error;
    };
    assert.match(await errorOf('steal'), /no function steal/);
    assert.match(await errorOf('pay'), /takes 3 arguments, not 0/);
    assert.match(await errorOf('pay', i128Arg(1n), i128Arg(1n), i128Arg(1n)), /trapped/);
    assert.match(await errorOf('__constructor'), /reserved/);
  });

  it('run exactly the uploaded code; other bytes cannot be uploaded', async () => {
    assert.deepEqual(await lab.server.getContractWasmByContractId(payinId), Buffer.from(payin.wasm, 'base64'));
    const empty = Buffer.from('0061736d01000000', 'hex');
    await assert.rejects(lab.deploy(treasury, empty, []), /environment interface version/);
    await assert.rejects(lab.deploy(treasury, Buffer.from('nonsense'), []), /not WebAssembly/);
  });

  it('change nothing when the ledger entries that they touch were not announced', async () => {
    const before = await lab.balance(treasury.publicKey());
    const transaction = await lab.build(payer.publicKey(), [payCall(payinId, payer.publicKey(), 5n, 'memo-5')]);
    const simulated = await lab.server.simulateTransaction(transaction);
    assert.ok(rpc.Api.isSimulationSuccess(simulated));
    const { transactionData } = simulated;
    transactionData.setReadWrite(transactionData.getReadWrite().slice(1));
    const assembled = rpc.assembleTransaction(transaction, simulated).build();
    assembled.sign(payer);
    const got = await lab.send(assembled);
    assert.equal(got.status, 'FAILED');
    assert.match(
      got.diagnosticEventsXdr?.map((e) => scValToNative(e.event().body().v0().data())).join() ?? '',
      /footprint/,
    );
    assert.equal(await lab.balance(treasury.publicKey()), before);
  });

  async function clientOf(signer: Keypair): Promise<PayinClient> {
    const client = await contract.Client.from({
      contractId: payinId,
      rpcUrl: lab.stellar.rpcUrl,
      networkPassphrase: lab.passphrase,
      allowHttp: true,
      publicKey: signer.publicKey(),
      ...contract.basicNodeSigner(signer, lab.passphrase),
    });
    return client as unknown as PayinClient;
  }
});
