import assert from 'node:assert/strict';
import { Contract, Keypair, Memo, xdr } from '@stellar/stellar-sdk';
import { instant } from '../../../domain/time.ts';
import { usdc } from '../../../sandbox/stellar/controls.ts';
import { deployPayin } from '../../../src/chains/stellar/deposits/deployPayin.ts';
import { contractProblem } from '../../../src/chains/stellar/deposits/scheme.ts';
import { ledgerEntries } from '../../../src/chains/stellar/reads.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { orderTo, type PayingWorld, payingWorld } from './paying.ts';
import { muxedContract, scanned, signal, watching } from './world.ts';

/**
 * Protocol 30: the headers' bytes are built by hand from CAP-88, because no sample exists. Nodes report close times in
 * whole seconds beside them, as before (stellar-rpc, close_time_ms_test.go).
 */
describe('Stellar at protocol 30', () => {
  let world: PayingWorld;
  before(async () => {
    world = await payingWorld({ protocol: 30 });
  });
  after(() => world.lab.stop());

  it('has ledger headers and addresses that the installed SDK cannot read: once it can, docs/contribute/dependencies.md says too little of it', async () => {
    await assert.rejects(world.lab.server.getLatestLedger(), /StellarValueType/);
    assert.throws(() => xdr.ScVal.fromXDR(muxedContract), /ScAddressType/);
  });

  it('has accounts, trustlines and contracts as before', async () => {
    const accountId = world.treasury.xdrAccountId();
    const keys = [
      xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })),
      xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId, asset: usdc.toTrustLineXDRObject() })),
      new Contract(world.payinContract).getFootprint(),
    ];
    const { found } = await createStellarRpc(world.config()).answer((node) => ledgerEntries(node, keys), signal);
    assert.deepEqual(
      [...found.values()].map((entry) => entry.switch().name),
      ['account', 'trustline', 'contractData'],
    );
  });

  it('has payins that are detected, and a head with its time', async () => {
    const from = world.here();
    await world.send('1', Memo.text('plain'));
    await world.pay(2n, 'by contract');
    const { logs, cursor } = await scanned(world.config(), from);
    assert.deepEqual(
      logs.map(({ memo }) => memo),
      ['plain', 'by contract'],
    );
    const { ingester } = watching(world.config());
    const head = world.stellar.chain.history.head();
    assert.deepEqual(await ingester.head(signal), {
      blockNumber: BigInt(head.sequence),
      chainTime: instant(head.closedAt_s * 1_000),
    });
    assert.equal(cursor.blockNumber, BigInt(head.sequence));
  });

  it('accepts payouts to accounts and to contracts', async () => {
    const receiver = (await world.lab.person(0n)).publicKey();
    for (const order of [orderTo(receiver), orderTo(world.payinContract)]) {
      const attempt = await world.attemptTo(order);
      await world.rail.broadcast(attempt.bytes);
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
    }
  });

  it('accepts a payin contract, and the service recognizes it', async () => {
    const [treasury, deployer] = [await world.lab.person(0n), await world.lab.person(0n)];
    const order = { rpcUrl: world.stellar.rpcUrl, treasury: treasury.publicKey(), token: `USDC:${usdc.getIssuer()}` };
    const { contractId, treasuryTrusts } = await deployPayin({
      ...order,
      deployer: Keypair.fromSecret(deployer.secret()),
    });
    assert.equal(treasuryTrusts, true);
    const config = { ...world.config(), treasury: treasury.publicKey(), payinContract: contractId };
    assert.equal(await contractProblem(config, createStellarRpc(config), signal), undefined);
  });
});
