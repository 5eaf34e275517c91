import assert from 'node:assert/strict';
import { type Address, keccak256, numberToHex, parseEther, parseGwei, parseTransaction } from 'viem';
import { type ChainId, chainOf, chains, findToken, type TokenSymbol } from '../../../../domain/chains.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { fund, sandboxTokenAbi } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import type { EvmPayload } from '../../../../src/chains/evm/payouts/transaction.ts';
import { type Fate, PayoutBlocked, type TransferOrder } from '../../../../src/chains/ports.ts';
import {
  accountOf,
  type ChainClient,
  chainClient,
  isolatedAnvil,
  sharedAnvil,
  treasury,
} from '../../../support/anvil.ts';
import { type Behaviour, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const payoutDepth = 3;

describe('EVM payouts', () => {
  for (const { id, name, tokens } of chains.filter(({ family }) => family === 'evm')) {
    for (const { symbol } of tokens) {
      it(`pays ${symbol} on ${name} and sees it become final at the configured depth`, async () => {
        const { rail, client, nonce } = await funded(id);
        const order = orderOf(id, symbol, accountOf(id + 7), 1_000_001n);
        const attempt = await signedBy(
          rail.numbering.numbered(await rail.numbering.prepare(order, nonce + 16n), nonce),
        );
        assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });

        await rail.broadcast(attempt.bytes);
        assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: false });
        await client.mine({ blocks: 1 });
        assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
        await client.mine({ blocks: payoutDepth });

        const fate = await rail.fate([attempt], signal);
        const { blockNumber, blockHash } = await client.getTransactionReceipt({ hash: attempt.hash as `0x${string}` });
        const spent = (await coinAt(client, blockNumber - 1n)) - (await coinAt(client, blockNumber));
        const cost = { payer: treasury, fee: spent.toString() };
        assert.deepEqual(fate, { kind: 'final', attempt: 1, hash: attempt.hash, blockNumber, blockHash, cost });
        assert.equal(await balance(client, order), 1_000_001n);
      });
    }
  }

  for (const [ordered, other] of [
    ['USDC', 'USDT'],
    ['USDT', 'USDC'],
  ] as const) {
    it(`moves ${ordered} and no ${other} for an order of ${ordered}, however much there is of the other`, async () => {
      const { rail, client, nonce } = await funded(56);
      const order = orderOf(56, ordered, accountOf(31), 7n * 10n ** 18n);
      const held = (symbol: TokenSymbol) =>
        Promise.all([treasury, order.receiver as Address].map((at) => balance(client, orderOf(56, symbol, at))));
      const [before, untouched] = [await held(ordered), await held(other)];
      const unsigned = await rail.numbering.prepare(order, nonce);
      assert.equal((unsigned.payload as EvmPayload).to, order.token.address);
      await rail.broadcast((await signedBy(unsigned)).bytes);
      await client.mine({ blocks: 1 });
      assert.deepEqual(await held(ordered), [before[0]! - order.amount, before[1]! + order.amount]);
      assert.deepEqual(await held(other), untouched);
    });
  }

  it('is short of the ordered token, however much there is of the other', async () => {
    const { rail, client, nonce } = await funded(56);
    const most = await balance(client, orderOf(56, 'USDC', treasury));
    await fund((await sharedAnvil(56)).rpcUrl, 56, treasury, { tokens: { USDT: most } });
    await rejectsAs('float', rail.numbering.prepare(orderOf(56, 'USDC', accountOf(32), most + 1n), nonce));
    await rail.numbering.prepare(orderOf(56, 'USDT', accountOf(32), most + 1n), nonce);
  });

  it('queries its node for all needs of a transfer at once: a round trip each would take half a second', async () => {
    const node = await startProxy((await sharedAnvil(8453)).rpcUrl);
    const { rail, nonce } = await funded(8453, node.url);
    const order = orderOf(8453, 'USDC', accountOf(35));
    // From then on the rail knows tips, and the gas of a transfer to an unused account.
    await rail.numbering.prepare(order, nonce);
    const asked: string[] = [];
    const all = Promise.withResolvers<void>();
    node.behave(async (method, params, forward) => {
      asked.push(method);
      if (asked.length === 5) all.resolve();
      await all.promise;
      return forward(method, params);
    });
    await rail.numbering.prepare(order, nonce);
    const wanted = ['eth_call', 'eth_call', 'eth_estimateGas', 'eth_getBalance', 'eth_getBlockByNumber'];
    assert.deepEqual(asked.toSorted(), wanted);
  });

  describe('at a node that returns no head, and an empty account', () => {
    const headless: Behaviour = async (method, params, forward) => {
      if (method === 'eth_getBlockByNumber') return null;
      return ['eth_getBalance', 'eth_call'].includes(method) ? numberToHex(0, { size: 32 }) : forward(method, params);
    };
    const forms: readonly (Form | undefined)[] = [
      undefined,
      { kind: 'coin' },
      { kind: 'flush', deposits: [] },
      { kind: 'deploy', contract: 'payMany' },
      { kind: 'allow', contract: 'payMany', most: '1' },
      { kind: 'payMany', payments: [] },
    ];
    async function railAt(others: readonly string[]) {
      const { rpcUrl, nonce } = await funded(8453);
      const node = await startProxy(rpcUrl, headless);
      const urls = [node.url, ...others.map(() => rpcUrl)];
      return { rail: createEvmPayoutRail(evmConfig(8453, urls), treasury), nonce };
    }

    for (const form of forms) {
      it(`are not prepared, which blames the node: ${form?.kind ?? 'a transfer of tokens'}`, async () => {
        const { rail, nonce } = await railAt([]);
        const order = { ...orderOf(8453, 'USDC', accountOf(36)), ...(form && { form }) };
        await assert.rejects(rail.numbering.prepare(order, nonce), {
          name: 'ChainUnavailable',
          message: /has no block latest/,
        });
      });
    }

    it('are prepared by the answers of another node', async () => {
      const { rail, nonce } = await railAt(['another']);
      await rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(37)), nonce);
    });
  });

  it('counts bytes that are pending, mined or sent twice at once as delivered', async () => {
    const { rail, client, nonce } = await funded(8453);
    const attempt = await signedBy(await rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(21)), nonce));
    await Promise.all([rail.broadcast(attempt.bytes), rail.broadcast(attempt.bytes)]);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 });
    await rail.broadcast(attempt.bytes);
    assert.equal(await balance(client, orderOf(8453, 'USDC', accountOf(21))), 5n);
  });

  it('replaces a pending attempt with an eighth more on both caps, and at most one of them lands', async () => {
    const { rail, client, nonce } = await funded(8453);
    const order = orderOf(8453, 'USDC', accountOf(22));
    const first = await signedBy(await rail.numbering.prepare(order, nonce));
    await rail.broadcast(first.bytes);
    const second = await signedBy(await rail.numbering.prepare(order, nonce, first), 2);
    assert.equal(second.fee['gas'], first.fee['gas']);

    for (const cap of ['maxFeePerGas', 'maxPriorityFeePerGas']) {
      assert.ok(BigInt(second.fee[cap]!) * 8n >= BigInt(first.fee[cap]!) * 9n, cap);
    }
    await rail.broadcast(second.bytes);
    await rail.broadcast(first.bytes);
    await client.mine({ blocks: 1 + payoutDepth });
    const fate = await rail.fate([first, second], signal);
    assert.ok(fate.kind === 'final');
    assert.deepEqual([fate.attempt, fate.hash], [2, second.hash]);
    assert.equal(await balance(client, order), 5n);
  });

  it('never replaces above the configured fee', async () => {
    const { rail, nonce } = await funded(8453);
    const order = orderOf(8453, 'USDC', accountOf(23));
    const dear = { ...(await signedBy(await rail.numbering.prepare(order, nonce))), fee: feeOf(parseGwei('4.9')) };
    await rejectsAs('gas', rail.numbering.prepare(order, nonce, dear));
  });

  it('calls attempts dead only once another transaction’s use of the nonce is final, and names it', async () => {
    const { rail, client, nonce } = await funded(8453);
    const attempt = await signedBy(await rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(24)), nonce));
    const cancel = await signedBy(await rail.numbering.prepareCancel(nonce), 2, 'cancel');
    await rail.broadcast(cancel.bytes);
    await client.mine({ blocks: 1 });
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });

    await client.mine({ blocks: payoutDepth + 20 });
    const fate = await rail.fate([attempt], signal);
    assert.ok(fate.kind === 'dead');
    assert.deepEqual([fate.attempts, fate.proof.reason], [[1], 'nonceUsed']);
    assert.match(fate.proof.detail, new RegExp(cancel.hash));
    assert.equal(await balance(client, orderOf(8453, 'USDC', accountOf(24))), 0n);
  });

  it('outbids a cancel, which lands instead, and can then check whether the attempt may still land', async () => {
    const { rail, client, nonce } = await funded(8453);
    const attempt = await signedBy(await rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(26)), nonce));
    const first = await signedBy(await rail.numbering.prepareCancel(nonce), 2, 'cancel');
    const second = await signedBy(await rail.numbering.prepareCancel(nonce, undefined, first), 3, 'cancel');
    for (const cap of ['maxFeePerGas', 'maxPriorityFeePerGas'])
      assert.ok(BigInt(second.fee[cap] ?? 0) * 10n >= BigInt(first.fee[cap] ?? 0) * 11n, cap);
    for (const { bytes } of [first, second]) await rail.broadcast(bytes);
    await client.mine({ blocks: 1 });
    assert.equal(await rail.canLand(attempt, signal), true);
    await client.mine({ blocks: payoutDepth + 20 });
    assert.equal(await rail.canLand(attempt, signal), false);
    const fate = await rail.fate([attempt, first, second], signal);
    assert.equal(fate.kind === 'final' && fate.hash, second.hash);
  });

  it('calls a reverted attempt dead once its block is final', async () => {
    const { rail, client, nonce } = await funded(8453);
    const order = orderOf(8453, 'USDC', accountOf(25));
    const attempt = await signedBy(await rail.numbering.prepare(order, nonce));
    await freeze(client, order.receiver as Address, true);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 });
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
    await client.mine({ blocks: payoutDepth });
    const fate = await rail.fate([attempt], signal);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'reverted');
    const { landed } = fate.proof;
    const blockNumber = BigInt(landed?.blockNumber ?? 0);
    const spent = (await coinAt(client, blockNumber - 1n)) - (await coinAt(client, blockNumber));
    assert.deepEqual([landed?.hash, landed?.cost], [attempt.hash, { payer: treasury, fee: spent.toString() }]);
  });

  it('is pending again and lands again when a reorganisation moves or drops the payout', async () => {
    const anvil = await isolatedAnvil(8453);
    const { rail, client, nonce } = await funded(8453, anvil.rpcUrl);
    const order = orderOf(8453, 'USDC', accountOf(26));
    const attempt = await signedBy(await rail.numbering.prepare(order, nonce));
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 2 + payoutDepth });
    const settled = await rail.fate([attempt], signal);
    assert.ok(settled.kind === 'final');
    assert.equal(await rail.stillFinal(settled, signal), true);

    await client.request({ method: 'anvil_reorg', params: [5, []] } as never);
    assert.equal(await rail.stillFinal(settled, signal), false);
    assert.notEqual((await rail.fate([attempt], signal)).kind, 'final');
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 + payoutDepth });
    const again: Fate = await rail.fate([attempt], signal);
    assert.equal(again.kind === 'final' && again.hash, attempt.hash);
    assert.equal(await balance(client, order), 5n);
  });

  it('sends a gap’s later nonces once the gap is filled', async () => {
    const { rail, client, nonce } = await funded(8453);
    const order = orderOf(8453, 'USDC', accountOf(27));
    const [first, second] = [
      await signedBy(await rail.numbering.prepare(order, nonce)),
      await signedBy(await rail.numbering.prepare(order, nonce + 1n)),
    ];
    await rail.broadcast(second.bytes);
    await client.mine({ blocks: 1 });
    assert.deepEqual(await rail.fate([second], signal), { kind: 'pending', mined: false });
    await rail.broadcast(first.bytes);
    await client.mine({ blocks: 1 + payoutDepth });
    assert.equal((await rail.fate([second], signal)).kind, 'final');
    assert.equal(await rail.numbering.minedNonce(signal), nonce + 2n);
  });

  describe('signs nothing', () => {
    it('without enough of the token', async () => {
      const { rail, nonce } = await funded(8453);
      await rejectsAs('float', rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(28), 10n ** 30n), nonce));
    });

    it('without enough of it besides the signed payouts', async () => {
      const { rail, nonce } = await funded(8453);
      const order = orderOf(8453, 'USDC', accountOf(28), 80_000000n);
      const token = order.token.address;
      const held = (await rail.balances(signal)).tokens[token] ?? 0n;
      await rail.numbering.prepare({ ...order, spokenFor: held - 80_000000n }, nonce);
      await rejectsAs('float', rail.numbering.prepare({ ...order, spokenFor: held - 79_999999n }, nonce));
    });

    it('without coin for the gas', async () => {
      const { rail, client, nonce } = await funded(8453);
      await client.setBalance({ address: treasury, value: 1n });
      await rejectsAs('gas', rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(28)), nonce));
    });

    it('when the token refuses the receiver', async () => {
      const { rail, client, nonce } = await funded(8453);
      await freeze(client, accountOf(29), true);
      await rejectsAs('refusedByToken', rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(29)), nonce));
    });

    it('while the chain asks for more than the configured fee', async () => {
      const anvil = await isolatedAnvil(8453);
      const { rail, client, nonce } = await funded(8453, anvil.rpcUrl);
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('50') });
      await client.mine({ blocks: 1 });
      await rejectsAs('gas', rail.numbering.prepare(orderOf(8453, 'USDC', accountOf(28)), nonce));
    });
  });

  it('reports the treasury’s coin and tokens', async () => {
    const { rail, client } = await funded(1);
    const { gas, tokens } = await rail.balances(signal);
    assert.equal(gas, await client.getBalance({ address: treasury }));
    assert.deepEqual(
      Object.keys(tokens),
      chainOf(1).tokens.map(({ address }) => address),
    );
    assert.equal(tokens[findToken(chainOf(1), 'USDT')!.address], await balance(client, orderOf(1, 'USDT', treasury)));
  });

  it('signs the prepared transaction, whose hash is known before anything is sent', async () => {
    const { rail, nonce } = await funded(56);
    const unsigned = await rail.numbering.prepare(orderOf(56, 'USDC', accountOf(30)), nonce);
    const attempt = await signedBy(unsigned);
    const parsed = parseTransaction(attempt.bytes as `0x${string}`);
    assert.equal(keccak256(attempt.bytes as `0x${string}`), attempt.hash);
    assert.deepEqual([parsed.chainId, parsed.nonce, parsed.value], [56, Number(nonce), undefined]);
    assert.equal((await signedBy(unsigned)).bytes, attempt.bytes);
  });
});

async function funded(chainId: ChainId, url?: string) {
  const rpcUrl = url ?? (await sharedAnvil(chainId)).rpcUrl;
  const client = chainClient(rpcUrl);
  const tokens = { USDC: 10n ** 24n, USDT: 10n ** 24n };
  await fund(rpcUrl, chainId, treasury, { gas: parseEther('1'), tokens });
  const config = { ...evmConfig(chainId, [rpcUrl]), depths: { final: 1, finalLarge: 2, payout: payoutDepth } };
  const rail = createEvmPayoutRail(config, treasury);
  return { rail, client, rpcUrl, nonce: (await rail.numbering.minedNonce(signal))! };
}

function orderOf(chainId: ChainId, symbol: TokenSymbol, receiver: Address, amount = 5n): TransferOrder {
  return { chainId, token: findToken(chainOf(chainId), symbol)!, receiver, receiverMemo: null, amount };
}

const feeOf = (wei: bigint) => ({ gas: '60000', maxFeePerGas: String(wei), maxPriorityFeePerGas: String(wei) });

const coinAt = (client: ChainClient, blockNumber: bigint) => client.getBalance({ address: treasury, blockNumber });

const balance = (client: ChainClient, { token, receiver }: TransferOrder) =>
  client.readContract({
    address: token.address as Address,
    abi: sandboxTokenAbi,
    functionName: 'balanceOf',
    args: [receiver as Address],
  });

async function freeze(client: ChainClient, account: Address, value: boolean): Promise<void> {
  const [sender] = await client.getAddresses();
  const address = findToken(chainOf(8453), 'USDC')!.address as Address;
  const call = { address, abi: sandboxTokenAbi, functionName: 'setFrozen', args: [account, value] } as const;
  await client.writeContract({ ...call, account: sender!, chain: null });
  await client.mine({ blocks: 1 });
}

const rejectsAs = (reason: PayoutBlocked['reason'], promise: Promise<unknown>) =>
  assert.rejects(promise, (error) => error instanceof PayoutBlocked && error.reason === reason);
