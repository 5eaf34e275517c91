import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rpc } from '@stellar/stellar-sdk';
import { type Children, openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { closeLedgers, usdc } from '../../sandbox/stellar/controls.ts';
import { keepStellarChain, type StellarChain } from '../../sandbox/stellarChain.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const million = 1_000_000_0000000n;

describe('the sandbox’s Stellar', () => {
  let dataDir: string;
  let children: Children;
  before(() => {
    dataDir = temporaryDirectory();
    for (const folder of ['chains', 'logs']) mkdirSync(join(dataDir, folder));
    children = openChildren(join(dataDir, 'processes.json'));
  });
  after(() => children.endAll());

  const keep = (): Promise<StellarChain> =>
    keepStellarChain({ dataDir, children, keys: keepKeys(dataDir), blockTime_s: 0.05 });
  const serverOf = ({ rpcUrl }: StellarChain) => new rpc.Server(rpcUrl, { allowHttp: true });
  async function usdcOf(chain: StellarChain, address: string): Promise<bigint | undefined> {
    const { passphrase } = await serverOf(chain).getNetwork();
    const { balanceEntry } = await serverOf(chain).getAssetBalance(address, usdc, passphrase);
    return balanceEntry ? BigInt(balanceEntry.amount) : undefined;
  }

  it('has a treasury with a float, a customer with money, a merchant who can receive, and the payin contract', async () => {
    const chain = await keep();
    assert.equal(await usdcOf(chain, chain.treasury), million);
    assert.equal(await usdcOf(chain, chain.customer), million);
    assert.equal(await usdcOf(chain, chain.merchantWallet), 0n);
    assert.ok((await serverOf(chain).getContractWasmByContractId(chain.contract)).length > 0);
  });

  it('leaves the treasury’s sequence numbers to the service', async () => {
    const chain = await keep();
    const used = async (account: string) => {
      const next = (await serverOf(chain).getAccountEntry(account)).seqNum().toString();
      // The upper half is the ledger in which the account was created.
      return BigInt(next) & 0xffff_ffffn;
    };
    assert.equal(await used(chain.treasury), 0n);
    assert.equal(await used(chain.customer), 2n);
  });

  it('is found again by the next start, which changes nothing', async () => {
    const first = await keep();
    const pid = children.alive('chain-1500')?.pid;
    assert.deepEqual(await keep(), first);
    assert.equal(children.alive('chain-1500')?.pid, pid);
    assert.equal(await usdcOf(first, first.treasury), million);
  });

  it('continues from its file, on the same port, after it was killed', async () => {
    const first = await keep();
    await closeLedgers(first.rpcUrl, 10);
    const { latestLedger } = await serverOf(first).getHealth();
    process.kill(children.alive('chain-1500')?.pid ?? 0, 'SIGKILL');
    const second = await keep();
    assert.deepEqual(second, first);
    assert.ok((await serverOf(second).getHealth()).latestLedger >= latestLedger);
    assert.equal(await usdcOf(second, second.customer), million);
  });

  it('creates separate keys if an older version kept none', () => {
    const older = temporaryDirectory();
    const kept = { masterKey: 'aa', treasury: '0x1', customer: '0x2', merchantWallet: '0x3' };
    writeFileSync(join(older, 'sandbox-keys.json'), JSON.stringify(kept));
    const { stellar, solana: _, relay: __, ...others } = keepKeys(older);
    assert.deepEqual(others, kept);
    assert.match(stellar.treasury, /^S[A-Z2-7]{55}$/);
    assert.deepEqual(keepKeys(older).stellar, stellar);
  });
});
