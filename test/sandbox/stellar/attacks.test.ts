import assert from 'node:assert/strict';
import { Asset, Keypair, nativeToScVal, Operation, type rpc, scValToNative, xdr } from '@stellar/stellar-sdk';
import { plantAsset } from '../../../sandbox/stellar/controls.ts';
import { sponsoring } from '../../support/sponsoring.ts';
import { addressArg, type StellarLab, stellarLab } from '../../support/stellar.ts';
import { compileWallet } from './contracts/wallet.ts';

const amount = 10_0000000n;
const text = (symbol: string) => xdr.ScVal.scvSymbol(symbol).toXDR('base64');

describe('local Stellar: attacks on the payin contract', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let payer: Keypair;
  let sponsor: Keypair;
  let payinId: string;
  before(async () => {
    lab = await stellarLab();
    [treasury, payer, sponsor] = [await lab.person(0n), await lab.person(), await lab.person()];
    payinId = await lab.deployPayin(treasury, treasury.publicKey());
  });
  after(() => lab.stop());

  it('a sponsor may submit the payer’s authorized call: the only honest case', async () => {
    const got = await sponsored({ memo: 'good' }, signedBy(payer));
    assert.equal(got.status, 'SUCCESS');
    assert.equal((await payments()).length, 1);
  });

  it('a used authorization does not count again', async () => {
    const { transaction, entry } = await simulated({ memo: 'once' });
    const signed = await signedBy(payer)(entry);
    assert.equal((await submit(transaction, [signed])).status, 'SUCCESS');
    await refused(/nonce already exists/, async () => {
      const again = await simulated({ memo: 'once' });
      return submit(withNonceOf(again.transaction, signed), [signed]);
    });
  });

  it('a stranger cannot sign for the payer', async () => {
    const mallory = Keypair.random();
    await refused(/not for/, () => sponsored({ memo: 'm' }, signedBy(mallory)));
  });

  it('a payer’s signature of another call does not match', async () => {
    await refused(/does not match/, () =>
      sponsored({ memo: 'm' }, async (entry) => {
        const signed = await signedBy(payer)(entry);
        const signature = signed.credentials().address().signature().vec()?.[0]?.map()?.[1];
        signature?.val(xdr.ScVal.scvBytes(payer.sign(Buffer.from('something else'))));
        return signed;
      }),
    );
  });

  it('an amount cannot be changed after signing', async () => {
    const small = await simulated({ memo: 'm' });
    const signed = await signedBy(payer)(small.entry);
    await refused(/Unauthorized function call/, async () => {
      const large = await simulated({ memo: 'm', amount: amount * 9n });
      return submit(withNonceOf(large.transaction, signed), [signed]);
    });
  });

  it('nor in the signed call', async () => {
    await refused(/does not match/, () =>
      sponsored({ memo: 'm', amount: amount * 9n }, async (entry) => {
        const honest = await simulated({ memo: 'm' });
        const signed = await signedBy(payer)(honest.entry);
        signed.credentials().address().nonce(entry.credentials().address().nonce());
        signed.rootInvocation(entry.rootInvocation());
        return signed;
      }),
    );
  });

  it('an authorization expires', async () => {
    await refused(/expired/, () =>
      sponsored({ memo: 'm' }, async (entry) => authorize(entry, payer, (await lastLedger()) - 1)),
    );
  });

  it('nothing moves without an authorization', async () => {
    await refused(/Unauthorized function call/, async () => {
      const { transaction } = await simulated({ memo: 'm' });
      return submit(transaction, []);
    });
    await refused(/no signature/, () =>
      sponsored({ memo: 'm' }, async (entry) => {
        entry
          .credentials()
          .address()
          .signatureExpirationLedger((await lastLedger()) + 100);
        return entry;
      }),
    );
  });

  it('an authorization of pay() alone does not move the token', async () => {
    await refused(/Unauthorized function call/, () =>
      sponsored({ memo: 'm' }, async (entry) => {
        entry.rootInvocation().subInvocations([]);
        return signedBy(payer)(entry);
      }),
    );
  });

  it('a payment event of another contract is not let through by the filter, though it looks the same', async () => {
    const lookAlike = await lab.deploy(sponsor, await compileWallet(), [xdr.ScVal.scvBytes(sponsor.rawPublicKey())]);
    const data = nativeToScVal(
      { amount, destination: addressArg(treasury.publicKey()), from: addressArg(payer.publicKey()), memo: 'stolen' },
      { type: { amount: ['symbol', 'i128'], destination: ['symbol'], from: ['symbol'], memo: ['symbol', 'string'] } },
    );
    const known = (await payments()).length;
    const got = await lab.call(sponsor, lookAlike, 'shout', addressArg(payer.publicKey()), data);
    assert.equal(got.status, 'SUCCESS');
    const all = await lab.server.getEvents({ startLedger: got.ledger, filters: [] });
    const forged = all.events.find(({ contractId }) => contractId?.contractId() === lookAlike);
    assert.deepEqual(forged?.topic.map(scValToNative), ['payment', payer.publicKey()]);
    assert.equal(scValToNative(forged.value).memo, 'stolen');
    assert.equal((await payments()).length, known);
  });

  it('a look-alike token has another contract, and its transfers are not accepted as USDC', async () => {
    const issuer = await lab.person(0n);
    const fake = new Asset('USDC', issuer.publicKey());
    const fakeId = await plantAsset(lab.stellar.rpcUrl, fake);
    assert.notEqual(fakeId, lab.usdcId);
    await lab.go(treasury, [Operation.changeTrust({ asset: fake })]);
    const known = (await payments()).length;
    const before = await lab.balance(treasury.publicKey());
    const payment = Operation.payment({ destination: treasury.publicKey(), asset: fake, amount: '1000' });
    assert.equal((await lab.go(issuer, [payment])).status, 'SUCCESS');
    assert.equal((await payments()).length, known);
    assert.equal(await lab.balance(treasury.publicKey()), before);
  });

  it('another owner’s pay contract moves the payer’s money only to the signed receiver', async () => {
    const stranger = await lab.person(0n);
    const other = await lab.deployPayin(stranger, stranger.publicKey());
    await refused(/Unauthorized function call/, async () => {
      const honest = await simulated({ memo: 'm' });
      const signed = await signedBy(payer)(honest.entry);
      const stolen = await simulated({ memo: 'm', contract: other });
      return submit(withNonceOf(stolen.transaction, signed), [signed]);
    });
    assert.equal(await lab.balance(stranger.publicKey()), 0n);
  });

  /** An order without a contract pays the treasury's own contract. */
  const { simulated, sponsored, submit, withNonceOf, authorize, signedBy, lastLedger } = sponsoring(() => ({
    tools: lab,
    contract: payinId,
    payer,
    sponsor,
    amount,
  }));

  /** The payments that the service would see: of its own contract, and USDC that its treasury received. */
  async function payments() {
    const { events } = await lab.server.getEvents({
      startLedger: lab.stellar.chain.history.oldest().sequence,
      filters: [{ type: 'contract', contractIds: [payinId], topics: [[text('payment'), '**']] }],
    });
    return events;
  }

  async function refused(reason: RegExp, attack: () => Promise<rpc.Api.GetTransactionResponse>) {
    const before = [await lab.balance(payer.publicKey()), await lab.balance(treasury.publicKey()), await payments()];
    const got = await attack();
    assert.equal(got.status, 'FAILED');
    const said = got.diagnosticEventsXdr?.map((event) => scValToNative(event.event().body().v0().data())).join();
    assert.match(said ?? '', reason);
    assert.deepEqual(
      [await lab.balance(payer.publicKey()), await lab.balance(treasury.publicKey()), await payments()],
      before,
    );
    assert.equal(got.events.contractEventsXdr.flat().length, 0);
  }
});
