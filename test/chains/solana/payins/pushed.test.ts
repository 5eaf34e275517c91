/** Deposits that a node reports as paid: polls read them first, and the push has no other effect. */
import assert from 'node:assert/strict';
import type { Keypair, PublicKey } from 'solana-web3-v1';
import { createAddressBook } from '../../../../src/chains/solana/payins/tokenAccounts.ts';
import { type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import type { SolanaWorld } from '../world.ts';
import { briefly, depositWorld, unusedAddresses, type Watcher, watching } from './watching.ts';

/** Newest first. */
const owners = unusedAddresses('deposit', 2_500);
const accountsOf = createAddressBook();
const [one, other] = [owners[1_200] ?? assert.fail(), owners[1_700] ?? assert.fail()];

describe('deposits on Solana that a node has pushed as paid', () => {
  let world: SolanaWorld;
  let payer: Keypair;
  let node: NodeProxy;
  let watcher: Watcher;
  beforeEach(async () => {
    ({ world, payer } = await depositWorld());
    node = await startProxy(world.solana.rpcUrl);
    watcher = watching(world, owners, [node.url], accountsOf);
    // All have been read once, and the next round has begun.
    for (let looks = 0; looks < 4; looks++) await look(3);
  });
  afterEach(() => world.lab.stop());

  const pay = (amount: bigint, to: PublicKey) => world.lab.pay({ from: payer, to, amount });
  const push = (...pushed: readonly PublicKey[]) => watcher.ingester.lookFirst?.(pushed.map(String));
  async function look(slots: number) {
    world.solana.advanceSlots(slots);
    node.calls.clear();
    const range = await watcher.poll('head');
    return {
      amounts: briefly(range).map(({ amount }) => amount),
      accounts: node.calls.get('getMultipleAccounts') ?? 0,
    };
  }

  it('are read in the next poll, wherever the round is', async () => {
    await pay(5n, one);
    push(one);
    assert.deepEqual((await look(1)).amounts, [5n]);
  });

  it('are found by polling alone when no node has pushed them', async () => {
    await pay(5n, one);
    let looks = 0;
    for (let seen = false; !seen && looks < 25; looks++) seen = (await look(3)).amounts.length > 0;
    assert.ok(looks > 1 && looks <= 21, `after ${looks} looks`);
  });

  it('are all that a poll reads right after another one, which moves nothing', async () => {
    await look(3);
    const { blockNumber } = await watcher.cursor('head');
    await pay(5n, one);
    push(one);
    assert.deepEqual(await look(1), { amounts: [5n], accounts: 1 });
    assert.equal((await watcher.cursor('head')).blockNumber, blockNumber);
    push(one);
    const { amounts, accounts } = await look(1);
    assert.deepEqual(amounts, []);
    assert.ok(accounts > 1, 'two slots later the round goes on');
  });

  it('are not read again once their payin was detected', async () => {
    await pay(5n, one);
    push(one);
    assert.deepEqual((await look(3)).amounts, [5n]);
    assert.ok((await look(1)).accounts > 1, 'a look like any other');
  });

  it('are left to the usual poll if all of a few are read anyway', async () => {
    const few = watching(world, owners.slice(0, 50), [node.url], accountsOf);
    await few.poll('head');
    await pay(5n, owners[7] ?? assert.fail());
    few.ingester.lookFirst?.([String(owners[7])]);
    world.solana.advanceSlots(1);
    assert.deepEqual(briefly(await few.poll('head')).length, 1);
    node.calls.clear();
    world.solana.advanceSlots(1);
    await few.poll('head');
    assert.deepEqual([...node.calls.keys()], ['getMultipleAccounts']);
  });

  it('hold up no round, however many are pushed: the pass moves as without', async () => {
    const from = (await watcher.cursor('head')).blockNumber;
    for (let slots = 0; slots < 80; slots++) {
      push(...owners.slice(slots, slots + 50));
      await look(1);
    }
    assert.ok((await watcher.cursor('head')).blockNumber > from + 20n);
  });

  it('are read until the polled nodes have reached the push’s slot', async () => {
    const lagsAt = await world.lab.connection.getSlot('confirmed');
    await look(3);
    await pay(5n, one);
    push(one);
    let shows = false;
    node.behave(async (method, params, forward) => {
      const answer = await forward(method, params);
      if (shows || method !== 'getMultipleAccounts') return answer;
      const { value } = answer as { value: readonly unknown[] };
      return { context: { slot: lagsAt + 1_000 }, value: value.map(() => null) };
    });
    assert.deepEqual((await look(1)).amounts, []);
    assert.deepEqual((await look(1)).amounts, []);
    shows = true;
    assert.deepEqual((await look(1)).amounts, [5n]);
  });

  it('are forgotten after a while when no payin is found', async () => {
    await look(3);
    push(one, other);
    assert.equal((await look(1)).accounts, 1);
    await look(30);
    const { accounts } = await look(1);
    assert.notEqual(accounts, 1, 'a look like any other');
  });

  it('cost five calls in a poll at most, whichever are named, and do not displace paid ones', async () => {
    const strangers = unusedAddresses('stranger', 1_900);
    await look(3);
    push(...strangers, one);
    await pay(5n, one);
    const seen: bigint[] = [];
    for (let looks = 0; looks < 4; looks++) {
      const { amounts, accounts } = await look(looks % 2 === 0 ? 1 : 2);
      seen.push(...amounts);
      if (looks % 2 === 0) assert.ok(accounts <= 5, `${accounts} calls`);
    }
    assert.deepEqual(seen, [5n]);
    push(...unusedAddresses('other stranger', 5_000));
    assert.ok((await look(1)).accounts <= 12);
  });

  it('stay due when a node refuses to answer', async () => {
    await look(3);
    await pay(5n, one);
    push(one);
    node.behave(() => Promise.reject(new Refusal(-32005, 'Node is unhealthy')));
    world.solana.advanceSlots(1);
    await assert.rejects(watcher.poll('head'));
    node.behave((method, params, forward) => forward(method, params));
    assert.deepEqual((await look(1)).amounts, [5n]);
  });

  it('are found again when the range could not be recorded', async () => {
    await look(3);
    await pay(5n, one);
    push(one);
    world.solana.advanceSlots(1);
    await watcher.pollInVain('head');
    assert.deepEqual((await look(1)).amounts, [5n]);
  });
});
