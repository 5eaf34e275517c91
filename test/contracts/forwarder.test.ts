import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem';
import { forwarderFactory } from '../../contracts/evm/artifacts/ForwarderFactory.ts';
import { type ChainId, chainOf, chains, findToken } from '../../domain/chains.ts';
import { fund, sandboxTokenAbi } from '../../sandbox/tokens.ts';
import { createEvmDeposits, forwarderAddresses } from '../../src/chains/evm/addresses.ts';
import { deployForwarder } from '../../src/chains/evm/deposits/deployForwarder.ts';
import { accountOf, type ChainClient, chainClient, keyOf, sharedAnvil, treasury } from '../support/anvil.ts';

const evmChains = chains.filter((chain) => chain.family === 'evm');
const { factory, implementation } = forwarderAddresses(treasury);
const forwarderAbi = parseAbi(['function flush(address token)', 'function treasury() view returns (address)']);
const stranger = accountOf(1);
const coin: Address = '0x0000000000000000000000000000000000000000';
const deposits = createEvmDeposits({ treasury });

interface Deposited {
  readonly address: Address;
  readonly salt: Hex;
}

describe('deposit forwarder', () => {
  for (const { id, name, tokens } of evmChains) {
    it(`on ${name} is at its computed address, and so is every deposit`, async () => {
      const { client } = await chain(id);
      const { address, salt } = await deposit('payment-1');
      assert.equal(await client.readContract({ ...contract, functionName: 'implementation' }), implementation);
      assert.equal(await client.readContract({ ...contract, functionName: 'addressOf', args: [salt] }), address);
    });

    for (const token of tokens) {
      it(`on ${name} sends ${token.symbol} of many deposits to the treasury, for any caller`, async () => {
        const { client, rpcUrl } = await chain(id);
        const made = await Promise.all(['a', 'b'].map((n) => deposit(`many-${token.symbol}-${n}`)));
        for (const { address } of made) await fund(rpcUrl, id, address, { tokens: { [token.symbol]: 1_500n } });
        const before = await balance(client, token.address, treasury);

        await flush(client, [made[0]!.salt], token.address);
        await fund(rpcUrl, id, made[0]!.address, { tokens: { [token.symbol]: 7n } });
        await flush(client, [made[0]!.salt, made[1]!.salt], token.address);

        assert.equal((await balance(client, token.address, treasury)) - before, 3_007n);
        assert.equal(await balance(client, token.address, made[1]!.address), 0n);
      });
    }
  }

  it('sends nothing, without an error, when there is nothing', async () => {
    const { client } = await chain(8453);
    const { salt, address } = await deposit('empty');
    await flush(client, [salt], usdcOf(8453));
    assert.equal(await client.readContract({ address, abi: forwarderAbi, functionName: 'treasury' }), treasury);
  });

  it('also sends the chain’s own coin that arrived by mistake', async () => {
    const { client, rpcUrl } = await chain(8453);
    const { salt, address } = await deposit('coin');
    await fund(rpcUrl, 8453, address, { gas: 5n });
    const before = await client.getBalance({ address: treasury });
    await flush(client, [salt], coin);
    assert.equal((await client.getBalance({ address: treasury })) - before, 5n);
  });

  it('keeps the money when the token refuses the transfer', async () => {
    const { client, rpcUrl } = await chain(8453);
    const { salt, address } = await deposit('frozen');
    await fund(rpcUrl, 8453, address, { tokens: { USDC: 9n } });
    await send(client, usdcOf(8453), freeze(address, true));
    await assert.rejects(flush(client, [salt], usdcOf(8453)), /reverted/);
    await send(client, usdcOf(8453), freeze(address, false));
    assert.equal(await balance(client, usdcOf(8453), address), 9n);
  });

  it('is deployed once by any payer of its gas', async () => {
    const { rpcUrl } = await sharedAnvil(8453, { mining: 'instant' });
    await fund(rpcUrl, 8453, stranger, { gas: parseEther('1') });
    const owner = accountOf(3);
    const first = await deployForwarder(rpcUrl, owner, keyOf(1));
    const again = await deployForwarder(rpcUrl, owner, keyOf(1));
    assert.deepEqual([first.factory, again.factory], [forwarderAddresses(owner).factory, first.factory]);
    assert.deepEqual([first.transaction !== null, again.transaction], [true, null]);
    assert.ok(await chainClient(rpcUrl).getCode({ address: first.factory }));
  });

  it('gives another treasury other addresses', async () => {
    const other = createEvmDeposits({ treasury: accountOf(2) });
    assert.notEqual((await assign(other, 'payment-1')).address, (await deposit('payment-1')).address);
  });
});

const contract = { address: factory, abi: forwarderFactory.abi } as const;
const usdcOf = (id: ChainId) => findToken(chainOf(id), 'USDC')!.address;
const deposit = (paymentId: string) => assign(deposits, paymentId);

async function assign(scheme: typeof deposits, paymentId: string): Promise<Deposited> {
  return (await scheme.assign(paymentId, chainOf(8453).tokens[0]!, null)) as unknown as Deposited;
}

async function chain(id: ChainId) {
  const { rpcUrl } = await sharedAnvil(id);
  const client = chainClient(rpcUrl);
  await client.setBalance({ address: stranger, value: parseEther('1') });
  await client.impersonateAccount({ address: stranger });
  return { client, rpcUrl };
}

async function send(client: ChainClient, to: string, data: Hex): Promise<void> {
  const hash = await client.sendTransaction({ account: stranger, chain: null, to: to as Address, data, gas: 500_000n });
  await client.mine({ blocks: 1 });
  const { status } = await client.getTransactionReceipt({ hash });
  assert.equal(status, 'success', `transaction was reverted`);
}

const flush = (client: ChainClient, salts: Hex[], token: string) =>
  send(client, factory, encodeFunctionData({ ...contract, functionName: 'flush', args: [salts, token as Address] }));

const freeze = (account: Address, value: boolean) =>
  encodeFunctionData({ abi: sandboxTokenAbi, functionName: 'setFrozen', args: [account, value] });

const balance = (client: ChainClient, token: string, account: Address) =>
  client.readContract({ address: token as Address, abi: sandboxTokenAbi, functionName: 'balanceOf', args: [account] });
