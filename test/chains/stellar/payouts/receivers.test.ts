import assert from 'node:assert/strict';
import { Asset, Keypair, Operation, StrKey } from '@stellar/stellar-sdk';
import { Unavailable } from '../../../../commands/ports.ts';
import { chainOf } from '../../../../domain/chains.ts';
import { fundAccount } from '../../../../sandbox/stellar/controls.ts';
import { createCanReceive } from '../../../../src/chains/money/receiverCheck.ts';
import { obstacle } from '../../../../src/chains/stellar/payouts/preflight.ts';
import { createStellarRpc } from '../../../../src/chains/stellar/rpc.ts';
import { muxed, usdc } from '../../../support/stellar.ts';
import { broken, startProxy } from '../../proxy.ts';
import { type StellarWorld, stellarWorld } from '../world.ts';

const stellar = chainOf(1500);
const [token] = stellar.tokens;
assert.ok(token);

describe('the receivers of USDC on Stellar', () => {
  let world: StellarWorld;
  before(async () => {
    world = await stellarWorld();
  });
  after(() => world.lab.stop());

  const refusalOf = (receiver: string, amount?: bigint | null, memo?: string, urls = [world.stellar.rpcUrl]) =>
    createCanReceive(createStellarRpc(world.config(urls)), obstacle)(stellar, token, receiver, amount, memo);
  const ask = async (receiver: string, amount?: bigint | null, urls?: string[]) =>
    (await refusalOf(receiver, amount, undefined, urls))?.message;
  const account = async () => {
    const keypair = Keypair.random();
    await fundAccount(world.stellar.rpcUrl, keypair.publicKey(), {});
    return keypair;
  };

  it('include an account with a trustline, also by its M address, and every contract', async () => {
    const person = await world.lab.person(0n);
    assert.equal(await ask(person.publicKey(), 10_0000000n), undefined);
    assert.equal(await ask(muxed(person.publicKey(), 7n)), undefined);
    assert.equal(await ask(world.payinContract), undefined);
    assert.equal(await ask(StrKey.encodeContract(Buffer.alloc(32, 7))), undefined);
  });

  it('exclude an account that does not exist or has no trustline, or one for a look-alike', async () => {
    assert.match((await ask(Keypair.random().publicKey())) ?? '', /does not exist/);
    const keypair = await account();
    assert.match((await ask(keypair.publicKey())) ?? '', /no trustline/);
    assert.match((await ask(muxed(keypair.publicKey(), 7n))) ?? '', /no trustline/);
    const lookAlike = new Asset('USDC', world.payer.publicKey());
    await world.lab.go(keypair, [Operation.changeTrust({ asset: lookAlike })]);
    assert.match((await ask(keypair.publicKey())) ?? '', /no trustline/);
  });

  it('exclude an account whose trustline has no room for the amount', async () => {
    const keypair = await account();
    await world.lab.go(keypair, [Operation.changeTrust({ asset: usdc, limit: '10' })]);
    assert.equal(await ask(keypair.publicKey(), 10_0000000n), undefined);
    assert.match((await ask(keypair.publicKey(), 10_0000001n)) ?? '', /room for 10.00 USDC only/);
    await world.send('10', undefined, keypair.publicKey());
    assert.match((await ask(keypair.publicKey(), null)) ?? '', /room for 0.00 USDC only/);
  });

  it('exclude an account that requires a memo (SEP-29) and gets none, but not its M address', async () => {
    const keypair = await world.lab.person(0n);
    const [plain, own] = [keypair.publicKey(), muxed(keypair.publicKey(), 7n)];
    const say = (value: string | null) =>
      world.lab.go(keypair, [Operation.manageData({ name: 'config.memo_required', value })]);
    for (const [value, refused] of [
      ['1', 'memoRequired'],
      ['0', undefined],
      [null, undefined],
    ] as const) {
      await say(value);
      assert.equal((await refusalOf(plain))?.refused, refused, `${value}`);
      assert.equal(await refusalOf(plain, 1n, 'invoice 7'), undefined);
      assert.equal(await refusalOf(own), undefined);
    }
  });

  it('are unknown while no node answers: nothing is guessed', async () => {
    const proxy = await startProxy(world.stellar.rpcUrl, broken);
    await assert.rejects(ask(world.payer.publicKey(), 1n, [proxy.url]), Unavailable);
  });
});
