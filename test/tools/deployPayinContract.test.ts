import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Keypair, StrKey, scValToNative } from '@stellar/stellar-sdk';
import { addFault, plantAsset } from '../../sandbox/stellar/controls.ts';
import { deployPayin } from '../../src/chains/stellar/deposits/deployPayin.ts';
import { Asset, addressArg, i128Arg, type StellarLab, stellarLab, stringArg, usdc } from '../support/stellar.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = join(import.meta.dirname, '../../tools/deployPayinContract.ts');
const token = `${usdc.getCode()}:${usdc.getIssuer()}`;

describe('npm run deploy:payin', () => {
  let lab: StellarLab;
  let deployer: Keypair;
  let treasury: Keypair;
  before(async () => {
    lab = await stellarLab();
  });
  beforeEach(async () => {
    [deployer, treasury] = [await lab.person(0n), await lab.person(0n)];
  });
  after(() => lab.stop());

  const order = (changes: { treasury?: string; token?: string; deployer?: Keypair } = {}) =>
    deployPayin({ rpcUrl: lab.stellar.rpcUrl, treasury: treasury.publicKey(), token, deployer, ...changes });

  it('prints the contract and the settings; run again, it names the contract that exists', async () => {
    const lines = `STELLAR_TREASURY_ADDRESS=${treasury.publicKey()}\nSTELLAR_PAYIN_CONTRACT=`;
    const first = await run(treasury.publicKey());
    assert.match(first, /payin contract (C[A-Z2-7]{55}) deployed by [0-9a-f]{64}\./);
    assert.match(first, new RegExp(`${lines}C[A-Z2-7]{55}\n$`));
    const file = join(temporaryDirectory(), 'secret');
    writeFileSync(file, `${deployer.secret()}\n`);
    const second = await run(treasury.publicKey(), { STELLAR_DEPLOYER_SECRET_FILE: file });
    assert.match(second, /existed already/);
    assert.equal(contractIn(second), contractIn(first));
  });

  it('deploys a contract that takes a customer’s payment to the treasury', async () => {
    const { contractId } = await order();
    const payer = await lab.person(5_0000000n);
    const args = [addressArg(payer.publicKey()), i128Arg(2_0000000n), stringArg('order 7')];
    assert.equal((await lab.call(payer, contractId, 'pay', ...args)).status, 'SUCCESS');
    assert.equal(await lab.balance(treasury.publicKey()), 2_0000000n);
  });

  it('gives each treasury, token and deployer a contract of its own', async () => {
    const other = await lab.person(0n);
    const euro = new Asset('EURC', usdc.getIssuer());
    await plantAsset(lab.stellar.rpcUrl, euro);
    const deployed = [
      await order(),
      await order({ treasury: other.publicKey() }),
      await order({ token: `EURC:${usdc.getIssuer()}` }),
      await order({ deployer: other }),
    ];
    assert.equal(new Set(deployed.map(({ contractId }) => contractId)).size, 4);
    for (const { contractId } of deployed) assert.ok(StrKey.isValidContract(contractId));
    const told = await lab.call(other, deployed[1]?.contractId ?? '', 'destination');
    assert.ok(told.status === 'SUCCESS' && told.returnValue);
    assert.equal(scValToNative(told.returnValue), other.publicKey());
  });

  it('continues where a run was interrupted: after the upload, after the creation', async () => {
    const fresh = await stellarLab();
    const { rpcUrl } = fresh.stellar;
    const [payer, owner] = [await fresh.person(0n), await fresh.person(0n)];
    const deploy = () => deployPayin({ rpcUrl, treasury: owner.publicKey(), token, deployer: payer });
    for (const _ of ['upload', 'creation']) {
      await addFault(rpcUrl, { method: 'sendTransaction', kind: 'lostAnswer' });
      await assert.rejects(deploy());
    }
    const { contractId, transaction } = await deploy();
    assert.equal(transaction, null);
    assert.equal((await fresh.server.getContractWasmByContractId(contractId)).length > 0, true);
    assert.equal(fresh.stellar.chain.history.transactions().length, 2);
  });

  it('states that the treasury cannot receive the token yet', async () => {
    const fresh = Keypair.random().publicKey();
    assert.equal((await order()).treasuryTrusts, true);
    assert.equal((await order({ treasury: fresh })).treasuryTrusts, false);
    assert.match(await run(fresh), /no trustline for USDC:/);
  });

  it('states the fault: no secret, no money for the fee, a busy node, no node', async () => {
    await assert.rejects(
      run(treasury.publicKey(), { STELLAR_DEPLOYER_SECRET: '' }),
      /STELLAR_DEPLOYER_SECRET must contain/,
    );
    await assert.rejects(run('GABC'), /valid checksum/);
    await assert.rejects(order({ deployer: Keypair.random() }), /Account not found/);
    await addFault(lab.stellar.rpcUrl, { method: 'sendTransaction', kind: 'tryAgainLater' });
    await assert.rejects(order(), /TRY_AGAIN_LATER.*run it again/);
    await addFault(lab.stellar.rpcUrl, { method: 'getNetwork', kind: 'unavailable' });
    await assert.rejects(order(), /no Stellar node answers at 127\.0\.0\.1/);
  });

  const contractIn = (printed: string) => /contract (C[A-Z2-7]{55})/.exec(printed)?.[1];

  async function run(
    account: string,
    secret: Record<string, string> = { STELLAR_DEPLOYER_SECRET: deployer.secret() },
  ): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, '--rpc', lab.stellar.rpcUrl, '--treasury', account],
      { env: { ...process.env, ...secret } },
    );
    return stdout;
  }
});
