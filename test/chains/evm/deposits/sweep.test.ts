import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, parseEther } from 'viem';
import type { DepositSweep, HeldDeposit, PaidDeposit } from '../../../../commands/sweeps/ports.ts';
import { PayoutBlocked, type TransferOrder } from '../../../../commands/transferPorts.ts';
import { type ChainId, chainOf, chains, findToken, type Token } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { startAnvil } from '../../../../sandbox/anvil.ts';
import { fund, plantTokens, sandboxTokenAbi } from '../../../../sandbox/tokens.ts';
import { createEvmDeposits, flushCall, forwarderAddresses } from '../../../../src/chains/evm/addresses.ts';
import { createEvmSweep } from '../../../../src/chains/evm/deposits/sweep.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import {
  accountOf,
  type ChainClient,
  chainClient,
  isolatedAnvil,
  keyOf,
  sharedAnvil,
  treasury,
} from '../../../support/anvil.ts';
import { onStop } from '../../../support/hooks.ts';
import { signedBy } from '../payouts/signing.ts';
import { evmConfig } from '../world.ts';

const { signal } = new AbortController();
const scheme = createEvmDeposits({ treasury });
const depth = 3;
const evmChains = chains.filter(({ family }) => family === 'evm');
let made = 0;

describe('sweeping deposits on EVM chains', () => {
  for (const { id, name, tokens } of evmChains) {
    it(`on ${name} takes what deposits hold of each token to the treasury, in one transaction each`, async () => {
      const world = await onChain(id);
      for (const token of tokens) {
        const deposits = await world.paid([5_000n, 7_000n], token);
        const held = (await world.sweep.held(deposits, signal)).filter((each) => each.token === token);
        assert.deepEqual(
          held.map(({ address, amount }) => [address, amount]),
          deposits.map(({ address }, at) => [address, [5_000n, 7_000n][at]]),
        );
        const { parts, left } = await world.sweep.plan(held, 4, signal);
        assert.deepEqual([parts.length, left], [1, []]);
        const before = await world.balance(treasury, token);
        const fate = await world.flushed(held);
        assert.ok(fate.kind === 'final', JSON.stringify(fate, bigintText));
        assert.equal(fate.arrived, 12_000n);
        assert.equal((await world.balance(treasury, token)) - before, 12_000n);
        assert.deepEqual(await world.sweep.held(deposits, signal), []);
      }
    });
  }

  it('counts only final money, and no money that was just swept', async () => {
    const { sweep, paid, client, usdc } = await onChain(8453, { final: 4 });
    const [deposit] = await paid([9n], usdc, 1);
    assert.deepEqual(await sweep.held([deposit!], signal), []);
    await client.mine({ blocks: 4 });
    assert.equal((await sweep.held([deposit!], signal))[0]?.amount, 9n);
  });

  it('ignores the deposits of another treasury', async () => {
    const { rpcUrl, sweep } = await onChain(8453);
    const other = createEvmDeposits({ treasury: accountOf(9) });
    const { address } = await other.assign('payment-1', chainOf(8453).tokens[0]!, null);
    await fund(rpcUrl, 8453, address as Address, { tokens: { USDC: 5n } });
    assert.deepEqual(await sweep.held([{ address, paymentId: 'payment-1' }], signal), []);
  });

  it('puts as many into a transaction as the chain allows, and makes no more transactions than requested', async () => {
    const { rpcUrl } = await isolatedAnvil(137);
    const { sweep, paid, usdc, client } = await onChain(137, { rpcUrl });
    const held = await sweep.held(
      await paid(
        Array.from({ length: 23 }, () => 3n),
        usdc,
      ),
      signal,
    );
    assert.equal((await sweep.plan(held, 100, signal)).parts.length, 1);
    const blockGas = 800_000n;
    await client.setBlockGasLimit({ gasLimit: blockGas });
    await client.mine({ blocks: 1 });
    const { parts, left } = await sweep.plan(held, 100, signal);
    assert.deepEqual([parts.flatMap(({ deposits }) => deposits), left], [held, []]);
    assert.ok(parts.length > 1 && parts.every(({ gas }) => gas !== null && gas < blockGas));
    assert.equal((await sweep.plan(held, 2, signal)).parts.length, 2);
  });

  it('finds the deposit that its token refuses, and sweeps the others', async () => {
    const { sweep, paid, usdc, client } = await onChain(56);
    const held = await sweep.held(await paid([1n, 2n, 3n, 4n, 5n], usdc), signal);
    await freeze(client, usdc, held[3]!.address, true);
    const { parts, left } = await sweep.plan(held, 10, signal);
    assert.deepEqual(
      left.map(({ address }) => address),
      [held[3]!.address],
    );
    assert.match(left[0]!.why, /refuses/);
    assert.deepEqual(parts.flatMap(({ deposits }) => deposits.map(({ amount }) => amount)).sort(), [1n, 2n, 3n, 5n]);
    await freeze(client, usdc, held[3]!.address, false);
  });

  it('waits while gas is above its limit', async () => {
    const { sweep } = await onChain(8453);
    await sweep.ready(null, signal);
    await blocked('gas', sweep.ready(1n, signal));
  });

  it('signs nothing for deposits that hold less by then: somebody flushed them', async () => {
    const { sweep, paid, usdc, rail, orderOf, nonce, flushedByAnybody } = await onChain(8453);
    const held = await sweep.held(await paid([5n, 6n], usdc), signal);
    await flushedByAnybody(held.slice(0, 1));
    await blocked('refusedByToken', rail.numbering.prepare(orderOf(held), await nonce()));
  });

  it('is done though somebody flushed a deposit while it was on its way, and records the amount that it brought itself', async () => {
    const world = await onChain(8453);
    const held = await world.sweep.held(await world.paid([5n, 6n], world.usdc), signal);
    const attempt = await world.signed(held);
    await world.flushedByAnybody(held.slice(0, 1));
    const fate = await world.landed(attempt, held);
    assert.ok(fate.kind === 'final');
    assert.equal(fate.arrived, 6n);
  });

  it('needs the forwarder on its chain, which the treasury itself can deploy, once', async () => {
    const owner = { key: keyOf(41), account: accountOf(41) };
    const anvil = await startAnvil({ chainId: 8453, mining: 'manual' });
    onStop(() => anvil.stop());
    await plantTokens(anvil.rpcUrl, 8453);
    const config = { ...evmConfig(8453, [anvil.rpcUrl]), depths: { final: 1, finalLarge: 2, payout: 1 } };
    await blocked('refusedByToken', createEvmSweep(config, owner.account).ready(null, signal));
    await fund(anvil.rpcUrl, 8453, owner.account, { gas: parseEther('1') });
    const rail = createEvmPayoutRail(config, owner.account);
    const { factory } = forwarderAddresses(owner.account);
    const token = { symbol: 'ETH', address: 'coin', decimals: 18 } as never;
    const form = { kind: 'deploy', contract: 'forwarder' } as const;
    const order = { chainId: 8453, token, receiver: factory, receiverMemo: null, amount: 0n, form } as const;
    const unsigned = await rail.numbering.prepare(order, 0n);
    const spending = createSpending({ perTransfer_usd: 1n, perHour_usd: 1n }, { now: () => instant(0) });
    const signer = createEvmSigner({ privateKey: owner.key, spending });
    await assert.rejects(signer.sign(unsigned, { kind: 'payout', reference: 'x' }));
    const signed = await signer.sign(unsigned, { kind: 'deployment', reference: 'operation-1' });
    await rail.broadcast(signed.bytes);
    await chainClient(anvil.rpcUrl).mine({ blocks: 4 });
    const sent = { attempt: 1, account: owner.account, nonce: '0', validUntil: null, ...signed };
    const of = { token, receiver: factory, amount: '0', signedAt: instant(0), form };
    assert.equal((await rail.fate([{ ...sent, ...of }], signal)).kind, 'final');
    await createEvmSweep(config, owner.account).ready(null, signal);
    await blocked('refusedByToken', rail.numbering.prepare(order, 1n));
  });
});

async function onChain(chainId: ChainId, { final = 1, rpcUrl: own = '' } = {}) {
  const rpcUrl = own || (await sharedAnvil(chainId)).rpcUrl;
  const client = chainClient(rpcUrl);
  const depths = { final, finalLarge: final + 1, payout: depth };
  const config = { ...evmConfig(chainId, [rpcUrl]), depths };
  await fund(rpcUrl, chainId, treasury, { gas: parseEther('1') });
  const rail = createEvmPayoutRail(config, treasury);
  const sweep: DepositSweep = createEvmSweep(config, treasury);

  /** Creates new deposits with these amounts. */
  async function paid(amounts: readonly bigint[], token: Token, blocks = final): Promise<readonly PaidDeposit[]> {
    const deposits: PaidDeposit[] = [];
    for (const amount of amounts) {
      const paymentId = `swept-${made++}`;
      const { address } = await scheme.assign(paymentId, token, null);
      await fund(rpcUrl, chainId, address as Address, { tokens: { [token.symbol]: amount } });
      deposits.push({ address, paymentId });
    }
    await client.mine({ blocks });
    return deposits;
  }

  function orderOf(held: readonly HeldDeposit[]): TransferOrder {
    const deposits = held.map(({ address, salt }) => ({ address, salt }));
    const amount = held.reduce((sum, each) => sum + each.amount, 0n);
    const form = { kind: 'flush', deposits } as const;
    return { chainId, token: held[0]!.token, receiver: treasury, receiverMemo: null, amount, form };
  }

  const nonce = async () => (await rail.numbering.minedNonce(signal))!;
  const signed = async (held: readonly HeldDeposit[]) =>
    signedBy(await rail.numbering.prepare(orderOf(held), await nonce()), 1, 'sweep');
  async function landed(attempt: Awaited<ReturnType<typeof signed>>, held: readonly HeldDeposit[]) {
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 + depth });
    return rail.fate([{ ...attempt, form: orderOf(held).form! }], signal);
  }

  return {
    rpcUrl,
    client,
    rail,
    sweep,
    paid,
    orderOf,
    nonce,
    signed,
    landed,
    usdc: findToken(chainOf(chainId), 'USDC')!,
    balance: (of: Address, { address }: Token) =>
      client.readContract({ address: address as Address, abi: sandboxTokenAbi, functionName: 'balanceOf', args: [of] }),
    flushed: async (held: readonly HeldDeposit[]) => landed(await signed(held), held),
    async flushedByAnybody(held: readonly HeldDeposit[]) {
      const [account] = await client.getAddresses();
      const salts = held.map(({ salt }) => salt);
      const call = flushCall(treasury, salts, held[0]!.token.address);
      await client.sendTransaction({ account: account!, chain: null, ...call, gas: 500_000n });
      await client.mine({ blocks: 1 });
    },
  };
}

async function freeze(client: ChainClient, { address }: Token, account: string, value: boolean): Promise<void> {
  const [sender] = await client.getAddresses();
  const args = [account as Address, value] as const;
  const data = encodeFunctionData({ abi: sandboxTokenAbi, functionName: 'setFrozen', args });
  await client.sendTransaction({ account: sender!, chain: null, to: address as Address, data, gas: 200_000n });
  await client.mine({ blocks: 1 });
}

const blocked = (reason: PayoutBlocked['reason'], promise: Promise<unknown>) =>
  assert.rejects(promise, (error) => error instanceof PayoutBlocked && error.reason === reason);

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
