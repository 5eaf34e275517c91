import assert from 'node:assert/strict';
import {
  authorizeEntry,
  hash,
  Keypair,
  Operation,
  rpc,
  StrKey,
  scValToNative,
  type Transaction,
  xdr,
} from '@stellar/stellar-sdk';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import { addressArg, i128Arg, payCall, type StellarLab, stellarLab } from '../../support/stellar.ts';
import { compileWallet } from './contracts/wallet.ts';

describe('local Stellar: a contract wallet, whose own code decides about authorizations', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let sponsor: Keypair;
  let wallet: string;
  let payinId: string;
  const owner = Keypair.random();
  before(async () => {
    lab = await stellarLab();
    [treasury, sponsor] = [await lab.person(0n), await lab.person(0n)];
    payinId = await lab.deployPayin(treasury, treasury.publicKey());
    wallet = await lab.deploy(sponsor, await compileWallet(), [xdr.ScVal.scvBytes(owner.rawPublicKey())]);
    await fundAccount(lab.stellar.rpcUrl, wallet, { usdc: 50_0000000n });
  });
  after(() => lab.stop());

  it('pays with the signature of its owner', async () => {
    const got = await payFrom(wallet, 20_0000000n, owner);
    assert.equal(got.status, 'SUCCESS');
    assert.equal(await lab.balance(treasury.publicKey()), 20_0000000n);
    assert.equal(await lab.balance(wallet), 30_0000000n);
    const { events } = await lab.server.getEvents({
      startLedger: got.ledger,
      filters: [{ type: 'contract', contractIds: [payinId] }],
    });
    assert.deepEqual(
      events.map(({ value }) => scValToNative(value).from),
      [wallet],
    );
  });

  it('does not pay with another signature, and simulation states that', async () => {
    await assert.rejects(payFrom(wallet, 1n, Keypair.random()), /refuses: failed ED25519 verification/);
  });

  it('does not pay more than it has', async () => {
    await assert.rejects(payFrom(wallet, 90_0000000n, owner), /underfunded/);
  });

  it('receives from accounts, and an address without a contract does too', async () => {
    const payer = await lab.person();
    const unused = StrKey.encodeContract(Buffer.alloc(32, 7));
    for (const receiver of [wallet, unused]) {
      const before = await lab.balance(receiver);
      const got = await lab.call(
        payer,
        lab.usdcId,
        'transfer',
        addressArg(payer.publicKey()),
        addressArg(receiver),
        i128Arg(7n),
      );
      assert.equal(got.status, 'SUCCESS');
      assert.equal(await lab.balance(receiver), before + 7n);
    }
  });

  it('can use symbols of more than nine characters', async () => {
    const got = await lab.call(sponsor, wallet, 'a_name_longer_than_nine');
    assert.ok(got.status === 'SUCCESS' && got.returnValue);
    assert.equal(scValToNative(got.returnValue), 'and_a_symbol_longer_than_nine');
  });

  async function payFrom(sender: string, amount: bigint, signer: Keypair) {
    const first = await lab.build(sponsor.publicKey(), [payCall(payinId, sender, amount, 'from-a-wallet')]);
    const simulated = await lab.server.simulateTransaction(first);
    if (rpc.Api.isSimulationError(simulated)) throw new Error(simulated.error);
    const [entry] = simulated.result?.auth ?? [];
    const [operation] = first.operations;
    assert.ok(entry && operation?.type === 'invokeHostFunction');
    const sign = async (preimage: xdr.HashIdPreimage) => ({
      signatureScVal: xdr.ScVal.scvBytes(signer.sign(hash(preimage.toXDR()))),
      address: sender,
    });
    const signed = await authorizeEntry(entry, sign, simulated.latestLedger + 100, lab.passphrase);
    const final: Transaction = await lab.prepare(
      sponsor.publicKey(),
      Operation.invokeHostFunction({ func: operation.func, auth: [signed] }),
    );
    final.sign(sponsor);
    return lab.send(final);
  }
});
