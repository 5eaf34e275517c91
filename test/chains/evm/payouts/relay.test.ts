/** Authorizations on a local chain: with the sandbox's USDC, and with the issuer's own contract. */
import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { sandboxTokenAbi } from '../../../../sandbox/tokens.ts';
import { authorizationCall } from '../../../../src/chains/evm/authorization.ts';
import { feesOf } from '../../../../src/chains/evm/config.ts';
import { createEvmRelaying } from '../../../../src/chains/evm/relaying.ts';
import { createEvmRpc } from '../../../../src/chains/evm/rpc.ts';
import { createEvmRelaySigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type NonceNumbering, PayoutBlocked, type RelayOrder, type Sent } from '../../../../src/chains/ports.ts';
import { systemClock } from '../../../../src/process/system.ts';
import { accountOf, type ChainClient, chainClient, isolatedAnvil, keyOf, treasury } from '../../../support/anvil.ts';
import { plantRealUsdc } from '../../../support/realUsdc.ts';
import { relayOrder, usdcOf } from '../../../support/relays.ts';
import { anyPayer, nowSeconds } from '../../../support/x402.ts';
import { evmConfig } from '../world.ts';

const { signal } = new AbortController();
const relayKey = keyOf(0x2e1a);
const relay = accountOf(0x2e1a);
const usdc = usdcOf(8453).address as Address;
const minter: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const cancelAbi = parseAbi([
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
]);

interface Token {
  mint(to: Address, amount: bigint): Promise<void>;
  freeze(account: Address): Promise<void>;
}

async function sandboxUsdc(client: ChainClient): Promise<Token> {
  const call = async (functionName: 'mint' | 'setFrozen', args: readonly [Address, never]) => {
    const data = encodeFunctionData({ abi: sandboxTokenAbi, functionName, args });
    await client.sendTransaction({ account: minter, chain: null, to: usdc, data, gas: 200_000n });
    await client.mine({ blocks: 1 });
  };
  return {
    mint: (to, amount) => call('mint', [to, amount as never]),
    freeze: (account) => call('setFrozen', [account, true as never]),
  };
}

const tokens = {
  'the sandbox’s USDC': (_: string, client: ChainClient) => sandboxUsdc(client),
  'the issuer’s own USDC': async (rpcUrl: string): Promise<Token> => {
    const { mint, blacklist } = await plantRealUsdc(rpcUrl, 8453);
    return { mint, freeze: blacklist };
  },
};

for (const [name, plant] of Object.entries(tokens))
  describe(`relays of ${name}`, () => {
    let client: ChainClient;
    let token: Token;
    let rpcUrl: string;
    before(async () => {
      ({ rpcUrl } = await isolatedAnvil(8453));
      client = chainClient(rpcUrl);
      token = await plant(rpcUrl, client);
      await client.setBalance({ address: relay, value: 10n ** 18n });
    });

    const relayingOf = () => {
      const config = { ...evmConfig(8453, [rpcUrl]), depths: { final: 2, finalLarge: 2, payout: 2 } };
      return createEvmRelaying(config, relay, createEvmRpc(config));
    };
    const signer = createEvmRelaySigner({
      privateKey: relayKey,
      treasury,
      feesOn: (chainId) => feesOf(chainId, {}),
      spending: createSpending({ perTransfer_usd: 0n, perHour_usd: 0n }, systemClock),
    });

    async function payerWith(units: bigint): Promise<PrivateKeyAccount> {
      const payer = anyPayer();
      await token.mint(payer.address, units);
      return payer;
    }

    /** Signs the order as the relay's next transaction. */
    async function signed(order: RelayOrder): Promise<Sent> {
      const { rail } = relayingOf();
      const numbering = rail.numbering as NonceNumbering;
      const nonce = await numbering.minedNonce(signal);
      const unsigned = await numbering.prepare(order, nonce);
      const { bytes, hash } = await signer.sign(unsigned, { kind: 'relay', reference: 'relay-1' });
      const signedAt = systemClock.now();
      const { token: of, receiver, amount, form } = order;
      const own = { attempt: 1, account: relay, nonce: String(nonce), validUntil: null, signedAt };
      return { ...own, bytes, hash, token: of, receiver, amount: String(amount), form };
    }

    async function land(sent: Sent) {
      const { rail } = relayingOf();
      await rail.broadcast(sent.bytes);
      await client.mine({ blocks: 4 });
      return rail.fate([sent], signal);
    }

    const balance = (of: string) =>
      client.readContract({ address: usdc, abi: cancelAbi, functionName: 'balanceOf', args: [of as Address] });

    const endOf = (order: RelayOrder) =>
      relayingOf()
        .simulate(order, signal)
        .then(
          ({ fee }) => `costs ${fee > 0n ? 'something' : 'nothing'}`,
          (error) => {
            assert.ok(error instanceof PayoutBlocked, String(error));
            return error.ends;
          },
        );

    it('fits the domain that payers sign', async () => {
      assert.deepEqual(await relayingOf().termsOf({ address: usdc }, signal), {
        kind: 'eip712',
        networkId: 8453,
        domain: { name: 'USD Coin', version: '2' },
      });
    });

    it('moves exactly the authorized amount from the payer to the deposit, for gas of ours alone', async () => {
      const payer = await payerWith(5_000000n);
      const order = await relayOrder(payer);
      const before = await balance(order.receiver);
      assert.equal(await endOf(order), 'costs something');
      const sent = await signed(order);
      const fate = await land(sent);
      assert.equal(fate.kind, 'final');
      assert.deepEqual([await balance(payer.address), await balance(order.receiver)], [2_000000n, before + 3_000000n]);
      assert.equal(await client.getBalance({ address: payer.address }), 0n);
      assert.ok(fate.kind === 'final' && fate.cost?.payer === relay && BigInt(fate.cost.fee) > 0n);
      assert.equal(await endOf(order), 'superseded');
    });

    it('ends an authorization that somebody else has sent, that the payer has cancelled, or that cannot be paid', async () => {
      const payer = await payerWith(5_000000n);
      const order = await relayOrder(payer);
      await cancel(payer, order);
      assert.equal(await endOf(order), 'cancelled');
      assert.equal(await endOf(await relayOrder(payer, { amount: 5_000001n })), 'drained');
      assert.equal(await endOf(await relayOrder(payer, {}, { validBefore: String(nowSeconds() - 10) })), 'expired');
      assert.equal(await endOf(await relayOrder(payer, { name: 'USDC' })), 'refused');
      await token.freeze(payer.address);
      assert.equal(await endOf(await relayOrder(payer)), 'refused');
    });

    it('counts a used nonce as paid only if its transaction moved the money to the deposit', async () => {
      const payer = await payerWith(9_000000n);
      const send = async (order: RelayOrder) => {
        await client.sendTransaction({ account: minter, chain: null, gas: 300_000n, ...authorizationCall(order) });
        await client.mine({ blocks: 1 });
      };
      const paid = await relayOrder(payer);
      await send(paid);
      assert.equal(await endOf(paid), 'superseded');
      const elsewhere = await relayOrder(payer, {}, { to: accountOf(0x2e1b) });
      await send(elsewhere);
      assert.equal(await endOf(await relayOrder(payer, {}, { nonce: elsewhere.form.nonce as Hex })), 'cancelled');
    });

    it('proves a transaction dead whose authorization was cancelled, or its payer drained, before it was mined', async () => {
      for (const spoil of [cancel, drain]) {
        const payer = await payerWith(3_000000n);
        const order = await relayOrder(payer);
        const sent = await signed(order);
        await spoil(payer, order);
        const fate = await land(sent);
        assert.deepEqual(fate.kind === 'dead' && [fate.attempts, fate.proof.reason], [[1], 'reverted']);
        assert.ok(fate.kind === 'dead' && fate.proof.landed?.cost.payer === relay);
      }
    });

    it('outbids a waiting transaction without checking whether it would still succeed: its nonce has to be used', async () => {
      const payer = await payerWith(3_000000n);
      const order = await relayOrder(payer);
      const sent = await signed(order);
      await cancel(payer, order);
      const numbering = relayingOf().rail.numbering as NonceNumbering;
      const replaced = {
        ...sent,
        fee: { gas: '100000', maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1000000000' },
      };
      const bump = await numbering.prepare(order, BigInt(sent.nonce ?? 0), replaced as never);
      assert.deepEqual([bump.nonce, bump.fee['gas']], [BigInt(sent.nonce ?? 0), '100000']);
    });

    it('waits if gas exceeds the reserved amount, and makes no other transfer', async () => {
      const payer = await payerWith(3_000000n);
      const order = await relayOrder(payer);
      const numbering = relayingOf().rail.numbering as NonceNumbering;
      const dear = { ...order, form: { ...order.form, costMax: '1' } };
      await assert.rejects(numbering.prepare(dear, 99n), { reason: 'gas', ends: null });
      const { form: _, ...plain } = order;
      await assert.rejects(numbering.prepare(plain, 99n), /relays alone/);
    });

    async function cancel(payer: PrivateKeyAccount, order: RelayOrder): Promise<void> {
      const { nonce } = order.form;
      const signature = await payer.signTypedData({
        domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdc },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: payer.address, nonce: nonce as Hex },
      });
      const { r, s, v } = parseSignature(signature);
      const args = [payer.address, nonce as Hex, Number(v), r, s] as const;
      await sendFrom(minter, encodeFunctionData({ abi: cancelAbi, functionName: 'cancelAuthorization', args }));
    }

    async function drain(payer: PrivateKeyAccount): Promise<void> {
      await client.setBalance({ address: payer.address, value: 10n ** 18n });
      await client.impersonateAccount({ address: payer.address });
      const args = [accountOf(9), 1n] as const;
      await sendFrom(payer.address, encodeFunctionData({ abi: cancelAbi, functionName: 'transfer', args }));
    }

    async function sendFrom(account: Address, data: Hex): Promise<void> {
      const hash = await client.sendTransaction({ account, chain: null, to: usdc, data, gas: 200_000n });
      await client.mine({ blocks: 1 });
      assert.equal((await client.getTransactionReceipt({ hash })).status, 'success');
    }
  });

describe('relays of a token with another domain than the known one', () => {
  it('are not offered', async () => {
    const { rpcUrl } = await isolatedAnvil(8453);
    await plantRealUsdc(rpcUrl, 8453, 'USDC');
    const config = evmConfig(8453, [rpcUrl]);
    const relaying = createEvmRelaying(config, relay, createEvmRpc(config));
    assert.equal(await relaying.termsOf({ address: usdc }, signal), null);
    const client = chainClient(rpcUrl);
    // A contract without such a function, and an address without a contract.
    for (const bytecode of ['0x60006000fd', '0x'] as const) {
      await client.setCode({ address: usdc, bytecode });
      assert.equal(await relaying.termsOf({ address: usdc }, signal), null);
    }
  });

  it('nor for BNB’s USDC, which has no authorizations, nor for USDT', async () => {
    const config = evmConfig(1, ['http://127.0.0.1:9']);
    const relaying = createEvmRelaying(config, relay, createEvmRpc(config));
    assert.equal(await relaying.termsOf({ address: '0xdAC17F958D2ee523a2206206994597C13D831ec7' }, signal), null);
    const bnb = evmConfig(56, ['http://127.0.0.1:9']);
    const onBnb = createEvmRelaying(bnb, relay, createEvmRpc(bnb));
    assert.equal(await onBnb.termsOf({ address: usdcOf(56).address }, signal), null);
  });
});
