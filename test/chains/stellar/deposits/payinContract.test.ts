import assert from 'node:assert/strict';
import { type Keypair, StrKey, xdr } from '@stellar/stellar-sdk';
import { addFault } from '../../../../sandbox/stellar/controls.ts';
import { defaultStellarConfig } from '../../../../src/chains/stellar/config.ts';
import { contractProblem } from '../../../../src/chains/stellar/deposits/scheme.ts';
import { ChainUnavailable, createStellarRpc } from '../../../../src/chains/stellar/rpc.ts';
import { compileWallet } from '../../../sandbox/stellar/contracts/wallet.ts';
import { patience_ms } from '../../../support/patience.ts';
import { type StellarLab, stellarLab } from '../../../support/stellar.ts';

describe('the configured payin contract', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let contract: string;
  before(async () => {
    lab = await stellarLab();
    treasury = await lab.person(0n);
    contract = await lab.deployPayin(await lab.person(), treasury.publicKey());
  });
  after(() => lab.stop());

  function problem(payinContract: string | null, of = treasury.publicKey()) {
    const { networkPassphrase, rpcUrl } = lab.stellar;
    const config = defaultStellarConfig({ rpcUrls: [rpcUrl], networkPassphrase, treasury: of, payinContract });
    return contractProblem(config, createStellarRpc(config), AbortSignal.timeout(patience_ms));
  }

  it('is right when it runs our code for our treasury and USDC; no contract is right too', async () => {
    assert.equal(await problem(contract), undefined);
    assert.equal(await problem(null), undefined);
  });

  it('is refused when it pays another treasury', async () => {
    const other = (await lab.person(0n)).publicKey();
    assert.match(
      (await problem(contract, other)) ?? '',
      /^STELLAR_PAYIN_CONTRACT: C.* is no payin contract of the treasury G/,
    );
  });

  it('is refused when it accepts another token', async () => {
    const other = await lab.deployPayin(await lab.person(), treasury.publicKey(), contract);
    assert.match((await problem(other)) ?? '', /is no payin contract/);
  });

  it('is refused when its code is not ours, or it is no contract at all', async () => {
    const wallet = await lab.deploy(await lab.person(), await compileWallet(), [
      xdr.ScVal.scvBytes(treasury.rawPublicKey()),
    ]);
    assert.match((await problem(wallet)) ?? '', /is no payin contract/);
    assert.match((await problem(lab.usdcId)) ?? '', /is no payin contract/);
  });

  it('is refused when it does not exist', async () => {
    assert.match((await problem(StrKey.encodeContract(Buffer.alloc(32, 9)))) ?? '', /does not exist on this network/);
  });

  it('is not judged while no node answers', async () => {
    await addFault(lab.stellar.rpcUrl, { kind: 'unavailable', method: 'getLedgerEntries', times: 20 });
    await assert.rejects(problem(contract), ChainUnavailable);
  });
});
