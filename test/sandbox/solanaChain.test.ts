import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, PublicKey } from 'solana-web3-v1';
import { type Children, openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { forkTo } from '../../sandbox/solana/controls.ts';
import { keypairOf } from '../../sandbox/solana/wallet.ts';
import { keepSolanaChain, type SolanaChain } from '../../sandbox/solanaChain.ts';
import { tokenAccount } from '../support/solana.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const million = String(1_000_000n * 10n ** 6n);

const forksMax = 20;

describe('the sandbox’s Solana', () => {
  let dataDir: string;
  let children: Children;
  before(() => {
    dataDir = temporaryDirectory();
    for (const folder of ['chains', 'logs']) mkdirSync(join(dataDir, folder));
    children = openChildren(join(dataDir, 'processes.json'));
  });
  after(() => children.endAll());

  const keep = (): Promise<SolanaChain> =>
    keepSolanaChain({ dataDir, children, keys: keepKeys(dataDir), blockTime_s: 0.05 });
  const connect = ({ rpcUrl }: SolanaChain) => new Connection(rpcUrl, 'finalized');
  async function usdcOf(chain: SolanaChain, wallet: string): Promise<string | undefined> {
    const account = await tokenAccount(new PublicKey(wallet));
    const found = await connect(chain)
      .getTokenAccountBalance(account)
      .catch(() => undefined);
    return found?.value.amount;
  }

  it('has a treasury and a customer with money, final at once, and a merchant’s wallet without any account', async () => {
    const chain = await keep();
    for (const wallet of [chain.treasury, chain.customer]) {
      assert.equal(await usdcOf(chain, wallet), million);
      assert.equal(await connect(chain).getBalance(new PublicKey(wallet)), 1_000 * 10 ** 9);
    }
    assert.equal(await usdcOf(chain, chain.merchantWallet), undefined);
    assert.equal(await connect(chain).getBalance(new PublicKey(chain.merchantWallet)), 0);
  });

  it('is found again by the next start, which changes nothing', async () => {
    const first = await keep();
    const pid = children.alive('chain-501')?.pid;
    assert.deepEqual(await keep(), first);
    assert.equal(children.alive('chain-501')?.pid, pid);
    assert.equal(await usdcOf(first, first.treasury), million);
  });

  it('continues from its file, on the same port, after it was killed', async () => {
    const first = await keep();
    const genesis = await connect(first).getGenesisHash();
    const slot = await connect(first).getSlot('processed');
    process.kill(children.alive('chain-501')?.pid ?? 0, 'SIGKILL');
    const second = await keep();
    assert.deepEqual(second, first);
    assert.equal(await connect(second).getGenesisHash(), genesis);
    assert.ok((await connect(second).getSlot('processed')) >= slot);
    assert.equal(await usdcOf(second, second.customer), million);
  });

  it('gives money that no fork removes', async () => {
    const chain = await keep();
    // If a block has become final meanwhile, the deepest fork is one block shorter.
    for (let tries = 1; ; tries += 1) {
      const deepest = await connect(chain).getSlot('finalized');
      const refusal = await forkTo(chain.rpcUrl, deepest).then(
        () => null,
        (error: unknown) => error,
      );
      if (refusal === null) break;
      if (tries === forksMax) throw refusal;
    }
    assert.equal(await usdcOf(chain, chain.treasury), million);
  });

  it('creates separate keys if an older version kept none', () => {
    const older = temporaryDirectory();
    const stellar = { treasury: 'S1', customer: 'S2', merchantWallet: 'S3' };
    const kept = { masterKey: 'aa', treasury: '0x1', customer: '0x2', merchantWallet: '0x3', stellar };
    writeFileSync(join(older, 'sandbox-keys.json'), JSON.stringify(kept));
    const { solana, relay, stellar: grown, ...others } = keepKeys(older);
    const { relay: stellarRelay, ...stellarBefore } = grown;
    assert.deepEqual({ ...others, stellar: stellarBefore }, kept);
    assert.match(relay, /^0x[0-9a-f]{64}$/);
    assert.match(stellarRelay, /^S[A-Z2-7]{55}$/);
    assert.equal(keypairOf(solana.treasury).secretKey.length, 64);
    assert.match(solana.depositSeed, /^[0-9a-f]{64}$/);
    assert.deepEqual(keepKeys(older).solana, solana);
  });
});
