import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseEther } from 'viem';
import { type AccountTransaction, type HistoryAsked, StandingDisputed } from '../../../commands/accountHistory.ts';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createEvmHistory } from '../../../src/chains/evm/history.ts';
import { createEvmRpc } from '../../../src/chains/evm/rpc.ts';
import { accountOf } from '../../support/anvil.ts';
import { type NodeProxy, Refusal, startProxy } from '../proxy.ts';
import { createWorld, evmConfig, payer, signal, type World } from './world.ts';

const usdc = findToken(chainOf(8453), 'USDC')!.address;
const account = accountOf(501);
const stranger = accountOf(502);

describe('the history of an account on an EVM chain', () => {
  let world: World;
  let node: NodeProxy;
  let history: ReturnType<typeof createEvmHistory>;
  before(async () => {
    world = await createWorld(8453);
    await fund(world.rpcUrl, 8453, account, { gas: parseEther('1'), tokens: { USDC: 10n ** 9n } });
    await world.client.impersonateAccount({ address: account });
    node = await startProxy(world.rpcUrl);
    const config = { ...evmConfig(8453, [node.url]), depths: { final: 1, finalLarge: 5, payout: 3 } };
    history = createEvmHistory({ ...config, rangeBlocksMax: 7 }, createEvmRpc(config));
  });

  const head = async () => BigInt(await world.client.getBlockNumber());
  const send = async (to: Address, { value = 0n, data = '0x' as Hex, gas = 100_000n } = {}) => {
    const hash = await world.client.sendTransaction({ account, chain: null, to, value, data, gas });
    await world.mine(1);
    return hash;
  };
  const transfer = (to: Address, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });

  async function all(asked: Omit<HistoryAsked, 'account' | 'after' | 'max'>, max = 100) {
    const [found, lengths]: [AccountTransaction[], number[]] = [[], []];
    for (let after: string | null = null, pages = 0; pages < 50; pages++) {
      const page = await history.transactions({ ...asked, account, max, after }, signal);
      assert.ok(page.complete);
      found.push(...page.transactions);
      lengths.push(page.transactions.length);
      if (page.next === null) return { found, lengths };
      after = page.next;
    }
    throw new Error('the history has no end');
  }

  it('contains outgoing and incoming transfers, with fees, counterparties and signs', async () => {
    const from = (await head()) + 1n;
    const paid = await send(usdc as Address, { data: transfer(stranger, 5_000000n) });
    const coin = await send(stranger, { value: 7n });
    await world.mine(9);
    const came = await world.pay(account, 3_000000n);
    const reverted = await send(usdc as Address, { data: transfer(stranger, 10n ** 30n) });
    await world.pay(stranger, 1_000000n);
    const to = await head();

    const { found } = await all({ from, to, order: 'oldestFirst' });
    const briefly = found.map(({ txHash, outgoing, succeeded, changes }) => ({ txHash, outgoing, succeeded, changes }));
    assert.deepEqual(briefly, [
      {
        ...{ txHash: paid, outgoing: true, succeeded: true },
        changes: [{ asset: usdc, amount: -5_000000n, counterparty: stranger }],
      },
      {
        ...{ txHash: coin, outgoing: true, succeeded: true },
        changes: [{ asset: 'coin', amount: -7n, counterparty: stranger }],
      },
      {
        ...{ txHash: came, outgoing: false, succeeded: true },
        changes: [{ asset: usdc, amount: 3_000000n, counterparty: payer }],
      },
      { ...{ txHash: reverted, outgoing: true, succeeded: false }, changes: [] },
    ]);
    const nonces = found.map(({ nonce }) => nonce);
    assert.deepEqual(nonces, [nonces[0], (nonces[0] ?? 0n) + 1n, null, (nonces[0] ?? 0n) + 2n]);
    const backwards = await all({ from, to, order: 'newestFirst' }, 1);
    assert.deepEqual(backwards.found, found.toReversed());
    assert.ok(backwards.lengths.every((length) => length <= 1));

    const nonce = nonces[1] ?? 0n;
    const one = await history.withNonce?.({ account, nonce, since: instant(0) }, signal);
    assert.deepEqual(one, found[1]);
  });

  it('adds up to the account’s balance, to the last unit', async () => {
    const before = await history.standing(account, signal);
    for (const amount of [1n, 2_000000n]) await send(usdc as Address, { data: transfer(stranger, amount) });
    await send(usdc as Address, { data: transfer(stranger, 10n ** 30n) });
    await world.pay(account, 9n);
    await send(account, { value: 5n });
    const later = await history.standing(account, signal);
    const { found } = await all({ from: before.blockNumber + 1n, to: later.blockNumber, order: 'oldestFirst' });
    const sums: Record<string, bigint> = { ...before.balances };
    for (const { fee, changes } of found) {
      sums['coin'] = (sums['coin'] ?? 0n) - fee;
      for (const { asset, amount } of changes) sums[asset] = (sums[asset] ?? 0n) + amount;
    }
    assert.deepEqual(sums, later.balances);
  });

  it('states that it may be incomplete where the node keeps no states', async () => {
    const from = (await head()) + 1n;
    const sent = await send(usdc as Address, { data: transfer(stranger, 1n) });
    await send(stranger, { value: 1n });
    const args = [stranger, 5n] as const;
    const allowed = await send(usdc as Address, {
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }),
    });
    const to = await head();
    node.behave(async (method, params, forward) => {
      if (method === 'eth_getTransactionCount') throw new Refusal(-32000, 'missing trie node');
      return forward(method, params);
    });
    const asked = { account, from, to, order: 'oldestFirst', max: 10, after: null } as const;
    const { transactions, complete } = await history.transactions(asked, signal);
    node.behave((method, params, forward) => forward(method, params));
    assert.deepEqual([transactions.map(({ txHash }) => txHash), complete], [[sent, allowed], false]);
  });

  it('states the account’s balance only if two nodes return the same for the same block', async () => {
    const liar = await startProxy(world.rpcUrl);
    const both = createEvmRpc(evmConfig(8453, [node.url, liar.url]));
    const witnessed = createEvmHistory({ ...evmConfig(8453, [node.url, liar.url]), rangeBlocksMax: 7 }, both);
    const held = await witnessed.standing(account, signal);
    liar.behave(async (method, params, forward) => (method === 'eth_getBalance' ? '0x7' : forward(method, params)));
    await assert.rejects(
      witnessed.standing(account, signal),
      (error) => error instanceof StandingDisputed && error.dispute.reason === 'nodesDisagree',
    );
    assert.deepEqual((await history.standing(account, signal)).balances, held.balances);
  });

  it('recognizes when a block is final, and when it is gone', async () => {
    const standing = await history.standing(account, signal);
    assert.equal(await history.finality(standing, signal), 'open');
    await world.mine(5);
    assert.equal(await history.finality(standing, signal), 'final');
    const young = await history.standing(account, signal);
    await world.reorg(2);
    assert.equal(await history.finality(young, signal), 'gone');
  });
});
