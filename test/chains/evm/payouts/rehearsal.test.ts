import assert from 'node:assert/strict';
import { type Address, type Hex, numberToHex, parseEther } from 'viem';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import { fund, sandboxTokenAbi } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import { PayoutBlocked } from '../../../../src/chains/ports.ts';
import { accountOf, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { type Behaviour, honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(8453), 'USDC')!;
const receiver = accountOf(911);
const order = { chainId: 8453, token: usdc, receiver, receiverMemo: null, amount: 10_000000n } as const;

/** Selector of `transfer(address,uint256)`. */
const transferSelector = '0xa9059cbb';

/** Data of an `eth_call`, as bytes. */
const callOf = ([call]: readonly unknown[]): Hex => (call as { data: Hex }).data;

describe('before an EVM payout is signed', () => {
  let node: NodeProxy;
  let rail: ReturnType<typeof createEvmPayoutRail>;
  beforeEach(async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 10n ** 9n } });
    node = await startProxy(rpcUrl);
    rail = createEvmPayoutRail(evmConfig(8453, [node.url]), treasury);
  });

  const prepare = async (nonce = 0n) => await rail.numbering.prepare(order, nonce);
  const refuses = (words: RegExp) =>
    assert.rejects(prepare(), (error) => error instanceof PayoutBlocked && words.test(error.message));

  /** Changes the result of the token's run. The probe runs in the account's place. */
  const bringing =
    (arrives: bigint): Behaviour =>
    async (method, params, forward) =>
      method === 'eth_call' && params.length === 3 ? numberToHex(arrives, { size: 32 }) : forward(method, params);

  it('its transfer is run on a node: all of it would arrive, and nothing is refused', async () => {
    assert.equal((await prepare()).order.amount, order.amount);
    assert.ok((node.calls.get('eth_call') ?? 0) <= 2, 'the balance, and the transfer');
  });

  it('a token that keeps a fee, or moves nothing, is refused with the amount that would arrive', async () => {
    node.behave(bringing(9_900000n));
    await refuses(/9\.90? of 10/);
    node.behave(bringing(0n));
    await refuses(/^USDC on Base refuses .*: 0(\.0+)? of 10/);
  });

  it('a token that reverts is refused with its reason', async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    const client = chainClient(rpcUrl);
    const [sender] = await client.getAddresses();
    const freeze = { abi: sandboxTokenAbi, functionName: 'setFrozen' } as const;
    const call = { address: usdc.address as Address, account: sender!, chain: null, ...freeze } as const;
    await client.writeContract({ ...call, args: [receiver, true] });
    await client.mine({ blocks: 1 });
    await refuses(/revert/i);
    await client.writeContract({ ...call, args: [receiver, false] });
    await client.mine({ blocks: 1 });
  });

  for (const [client, code, words] of [
    ['geth', 3, 'execution reverted'],
    ['geth, of an INVALID', -32000, 'invalid opcode: INVALID'],
    ['geth, of a loop', -32000, 'out of gas'],
    ['geth, of an invalid jump', -32000, 'invalid jump destination'],
    ['geth, of an empty stack', -32000, 'stack underflow'],
    ['geth, of a full stack', -32000, 'stack limit reached 1024'],
    ['geth, of a static call that writes', -32000, 'write protection'],
    ['geth, of a copy beyond what was returned', -32000, 'return data out of bounds'],
    ['geth, of too much memory', -32000, 'gas uint64 overflow'],
    ['geth, of code that is none', -32000, 'invalid code: must not begin with 0xef'],
    ['geth, of calls in calls', -32000, 'max call depth exceeded'],
    ['Nethermind', -32015, 'VM execution error.'],
    ['Reth', -32003, 'EVM error: StackUnderflow'],
    ['Nitro', -32000, 'execution reverted: Blacklistable: account is blacklisted'],
  ] as const) {
    it(`a token that reverts is not a fault of its node, in the words of ${client}`, async () => {
      node.behave((method, params, forward) => {
        const isRun = method === 'eth_call' && (params.length === 3 || callOf(params).startsWith(transferSelector));
        return isRun ? Promise.reject(new Refusal(code, words)) : forward(method, params);
      });
      await refuses(new RegExp(words));
    });
  }

  it('a node that fails is not a refusal of the token', async () => {
    node.behave((method, params, forward) =>
      method === 'eth_call' && callOf(params).startsWith(transferSelector)
        ? Promise.reject(new Refusal(-32603, 'Internal error'))
        : method === 'eth_call' && params.length === 3
          ? Promise.resolve('0x')
          : forward(method, params),
    );
    await assert.rejects(prepare(), ChainUnavailable);
  });

  for (const [how, behaviour] of [
    ['takes no third parameter', () => Promise.reject(new Refusal(-32602, 'too many arguments, want at most 2'))],
    ['leaves the code out', () => Promise.resolve('0x')],
  ] as const) {
    it(`a node that ${how} is called in the plain way, from then on at once`, async () => {
      node.behave((method, params, forward) =>
        method === 'eth_call' && params.length === 3 ? behaviour() : forward(method, params),
      );
      await prepare();
      const before = node.calls.get('eth_call') ?? 0;
      await prepare();
      assert.equal((node.calls.get('eth_call') ?? 0) - before, 2);
      node.behave((method, params, forward) => {
        const isTransfer = method === 'eth_call' && callOf(params).startsWith(transferSelector);
        return isTransfer ? Promise.resolve(numberToHex(0, { size: 32 })) : forward(method, params);
      });
      await refuses(/0(\.0+)? of 10/);
    });
  }

  it('a payment by the treasury to itself is no fee', async () => {
    node.behave(honest);
    assert.equal((await rail.numbering.prepare({ ...order, receiver: treasury }, 0n)).order.amount, order.amount);
  });

  it('the allowed gas is the fork’s, including a new holder’s slot', async () => {
    await fund((await sharedAnvil(8453)).rpcUrl, 8453, receiver, { tokens: { USDC: 1n } });
    const known = BigInt((await prepare()).fee['gas'] ?? 0);
    const stranger = BigInt(
      (await rail.numbering.prepare({ ...order, receiver: accountOf(987_654) }, 0n)).fee['gas'] ?? 0,
    );
    assert.ok(known * 100n >= stranger * 98n, `${known} for a holder, ${stranger} for a new one`);
    assert.ok(known < 120_000n, `${known}`);
    // EIP-8037: a storage slot costs more than twice as much.
    node.behave(async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'eth_estimateGas' ? numberToHex(BigInt(answer as Hex) + 49_000n) : answer;
    });
    rail = createEvmPayoutRail(evmConfig(8453, [node.url]), treasury);
    assert.ok(BigInt((await prepare()).fee['gas'] ?? 0) >= known + 49_000n);
    const dearer = await rail.transferCost(signal);
    node.behave(honest);
    rail = createEvmPayoutRail(evmConfig(8453, [node.url]), treasury);
    assert.ok(dearer > (await rail.transferCost(signal)));
  });

  it('gas beyond the configured ceiling is not paid for', async () => {
    node.behave((method, params, forward) =>
      method === 'eth_estimateGas' ? Promise.resolve(numberToHex(450_000n)) : forward(method, params),
    );
    await refuses(/540000 gas, the limit is 500000 \(GAS_MAX_8453\)/);
    const config = evmConfig(8453, [node.url]);
    rail = createEvmPayoutRail({ ...config, fees: { ...config.fees, gasMax: 600_000n } }, treasury);
    assert.equal((await prepare()).fee['gas'], '540000');
  });
});
