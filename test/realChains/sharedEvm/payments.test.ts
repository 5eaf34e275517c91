/** Payins and payouts of the adapter alone on go-ethereum: reorganisations, gaps of nonces and replacements by the node’s own rules. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, encodeFunctionData, erc20Abi, type Hex, keccak256 } from 'viem';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { coinOf } from '../../../domain/money.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { endowOnGeth } from '../../../sandbox/realNodes/geth.ts';
import type { EvmChainConfig } from '../../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../../src/chains/evm/payins/ingester.ts';
import { createEvmPayoutRail, refusalKind } from '../../../src/chains/evm/payouts/rail.ts';
import { BroadcastRefused, type Fate, PayoutBlocked, type TransferOrder } from '../../../src/chains/ports.ts';
import { signedBy } from '../../chains/evm/payouts/signing.ts';
import { evmConfig, observe } from '../../chains/evm/world.ts';
import { accountOf, keyOf, treasury } from '../../support/anvil.ts';
import { patience_ms } from '../../support/patience.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { startSharedRealEvmNodes } from '../../support/sharedSandbox.ts';
import { post } from '../comparison.ts';
import { gwei, signed } from '../evmTransactions.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(1), 'USDC') ?? assert.fail('Ethereum has USDC');
const order: TransferOrder = {
  chainId: 1,
  token: usdc,
  receiver: accountOf(81),
  receiverMemo: null,
  amount: 1_000_001n,
};
/** Number of the account that pays in. */
const payer = 6_020;
const poll_ms = 200;
const polls = patience_ms / poll_ms;

describeOnReal(['GETH'], 'EVM payments', () => {
  let rpcUrl: string;

  before(async () => {
    rpcUrl = (await startSharedRealEvmNodes()).get(1) ?? assert.fail('no node of Ethereum runs');
  });

  interface NodeAnswer {
    readonly result?: unknown;
    readonly error?: { readonly message: string };
  }
  async function ask(method: string, params: readonly unknown[]): Promise<NodeAnswer> {
    const { body } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return body as NodeAnswer;
  }
  async function request(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result, error } = await ask(method, params);
    assert.equal(error, undefined);
    return result;
  }
  const minedIn = async (hash: Hex) =>
    (await request('eth_getTransactionReceipt', [hash])) as { readonly blockNumber: Hex; readonly blockHash: Hex };
  /** Geth sends a lost transaction again some time after it removed its block: perhaps before this. */
  async function sendAgain(bytes: Hex): Promise<void> {
    const { error } = await ask('eth_sendRawTransaction', [bytes]);
    assert.ok(error === undefined || /already known|nonce too low/.test(error.message), error?.message);
  }

  async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < polls; tries += 1) {
      const found = await read();
      if (found !== undefined) return found;
      await sleep(poll_ms);
    }
    return assert.fail(`${what} never happened`);
  }

  describe('in', () => {
    before(() => endowOnGeth(rpcUrl, 1, [[accountOf(payer), { coin: 10n ** 18n, tokens: { USDC: 10n ** 9n } }]]));

    it('are detected at the head, leave it with their block, and are detected again until they are final', async () => {
      const depths = { final: 3, finalLarge: 5, payout: 3 };
      const ingester = createEvmIngester({ ...evmConfig(1, [rpcUrl]), depths });
      const [head, final] = [await observe(ingester, 'head'), await observe(ingester, 'final')];
      const seen = async ({ follow, seen: transfers }: typeof head) => {
        await follow();
        return [...transfers.values()].some(({ txHash }) => txHash === hash);
      };

      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [accountOf(82), 5n] });
      const bytes = await signed(keyOf(payer), { to: usdc.address as Address, value: 0n, gas: 100_000n, data });
      const hash: Hex = keccak256(bytes);
      await request('eth_sendRawTransaction', [bytes]);
      await until('the payin at the head', async () => (await seen(head)) || undefined);
      assert.equal([...head.seen.values()].find(({ txHash }) => txHash === hash)?.amount, '5');

      const { blockNumber, blockHash } = await minedIn(hash);
      await request('debug_setHead', [`0x${(BigInt(blockNumber) - 1n).toString(16)}`]);
      await until('the end of its block', async () => {
        await head.follow();
        return head.orphaned.includes(blockHash) || undefined;
      });

      await sendAgain(bytes);
      await until('the payin at the head again', async () => (await seen(head)) || undefined);
      await until('the final payin', async () => (await seen(final)) || undefined);
      const newest = BigInt((await request('eth_blockNumber', [])) as Hex);
      const mined = await minedIn(hash);
      assert.ok(newest - BigInt(mined.blockNumber) >= 2n, `final in block ${mined.blockNumber}, head ${newest}`);
      assert.equal([...final.seen.values()].find(({ txHash }) => txHash === hash)?.blockHash, mined.blockHash);
      assert.deepEqual(final.orphaned, []);
    });
  });

  describe('out', () => {
    let config: EvmChainConfig;
    const creator = keyOf(6_010);
    let created = 0n;

    before(async () => {
      config = { ...evmConfig(1, [rpcUrl]), depths: { final: 1, finalLarge: 2, payout: 1 } };
      await endowOnGeth(rpcUrl, 1, [
        [treasury, { coin: 10n ** 20n, tokens: { USDC: 10n ** 12n } }],
        [accountOf(6_010), { coin: 10n ** 18n }],
      ]);
    });

    const railWith = (changes: Partial<EvmChainConfig> = {}) =>
      createEvmPayoutRail({ ...config, ...changes }, treasury);
    const nonceOf = async (rail: ReturnType<typeof railWith>) => await rail.numbering.minedNonce(signal);

    const finalFate = (attempts: readonly SignedAttempt[], rail = railWith()): Promise<Fate> =>
      until('a final fate', async () => {
        const fate = await rail.fate(attempts, signal);
        return fate.kind === 'pending' || fate.kind === 'unknown' ? undefined : fate;
      });

    it('reach their receiver; a broadcast of a known or mined transaction is no failure', async () => {
      const rail = railWith();
      const attempt = await signedBy(await rail.numbering.prepare(order, await nonceOf(rail)));
      assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });
      await rail.broadcast(attempt.bytes);
      await rail.broadcast(attempt.bytes);
      const fate = await finalFate([attempt]);
      assert.equal(fate.kind, 'final');
      await rail.broadcast(attempt.bytes);
    });

    it('wait behind a gap of nonces, are replaced there, and land once', async () => {
      const rail = railWith();
      const nonce = await nonceOf(rail);
      const first = await signedBy(await rail.numbering.prepare(order, nonce + 1n));
      await rail.broadcast(first.bytes);
      assert.deepEqual(await rail.fate([first], signal), { kind: 'pending', mined: false });
      const second = await signedBy(await rail.numbering.prepare(order, nonce + 1n, first), 2);
      await rail.broadcast(second.bytes);
      await rail.broadcast(first.bytes);
      assert.equal(await request('eth_getTransactionByHash', [first.hash]), null);
      assert.deepEqual(await rail.fate([first, second], signal), { kind: 'pending', mined: false });
      const filler = await signedBy(await rail.numbering.prepareCancel(nonce, undefined), 1, 'cancel');
      await rail.broadcast(filler.bytes);
      const fate = await finalFate([first, second]);
      assert.equal(fate.kind === 'final' && fate.hash, second.hash);
    });

    it('without a tip are refused, and replaced by ones that pay 1 wei', async () => {
      const rail = railWith({ fees: { ...config.fees, minTip_wei: 0n, maxTip_wei: 0n } });
      const nonce = await nonceOf(rail);
      const first = await signedBy(await rail.numbering.prepare(order, nonce));
      assert.equal(first.fee['maxPriorityFeePerGas'], '0');
      await assert.rejects(
        rail.broadcast(first.bytes),
        (error) => error instanceof BroadcastRefused && error.refusals.every((words) => refusalKind(words) === 'fee'),
      );
      const second = await signedBy(await rail.numbering.prepare(order, nonce, first), 2);
      await rail.broadcast(second.bytes);
      const fate = await finalFate([first, second]);
      assert.equal(fate.kind === 'final' && fate.hash, second.hash);
    });

    it('are dead once another transaction has used their nonce', async () => {
      const rail = railWith();
      const nonce = await nonceOf(rail);
      const attempt = await signedBy(await rail.numbering.prepare(order, nonce));
      const other = await signedBy(await rail.numbering.prepareCancel(nonce, undefined), 1, 'cancel');
      await rail.broadcast(other.bytes);
      const fate = await finalFate([attempt]);
      assert.equal(fate.kind === 'dead' && fate.proof.reason, 'nonceUsed');
      await rail.broadcast(attempt.bytes);
    });

    it('leave the chain with their block, and land when they are sent again', async () => {
      const rail = railWith({ depths: { final: 50, finalLarge: 60, payout: 50 } });
      const attempt = await signedBy(await rail.numbering.prepare(order, await nonceOf(rail)));
      await rail.broadcast(attempt.bytes);
      const { blockNumber } = await until('a receipt', async () => {
        const receipt = await request('eth_getTransactionReceipt', [attempt.hash]);
        return receipt === null ? undefined : (receipt as { readonly blockNumber: Hex });
      });
      assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
      await request('debug_setHead', [`0x${(BigInt(blockNumber) - 1n).toString(16)}`]);
      assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });
      await rail.broadcast(attempt.bytes);
      assert.equal((await finalFate([attempt])).kind, 'final');
    });

    for (const [what, code] of [
      ['uses all gas', '5b600056'],
      ['jumps to an invalid place', '600056'],
      ['executes INVALID', 'fe'],
      ['needs more of the stack', '01'],
      ['reverts', '60006000fd'],
    ] as const) {
      it(`with coin for a contract that ${what} are refused before they are signed`, async () => {
        const receiver = await contractOf(code);
        const toContract = { ...order, token: coinOf(1), receiver, amount: 1n, form: { kind: 'coin' } } as const;
        const rail = railWith();
        const isRefused = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'refusedByToken';
        await assert.rejects(rail.numbering.prepare(toContract, await nonceOf(rail)), isRefused);
      });
    }

    it('above the treasury’s balance wait for float', async () => {
      const rail = railWith();
      const isFloat = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'float';
      await assert.rejects(rail.numbering.prepare({ ...order, amount: 10n ** 20n }, await nonceOf(rail)), isFloat);
    });

    /** Creates a contract of some bytes of code. */
    async function contractOf(code: string): Promise<Address> {
      const size = (code.length / 2).toString(16).padStart(2, '0');
      const creation: Hex = `0x60${size}600c60003960${size}6000f3${code}`;
      const changes = { nonce: created, to: null, value: 0n, gas: 100_000n, data: creation, maxFeePerGas: 20n * gwei };
      created += 1n;
      const bytes = await signed(creator, changes);
      await request('eth_sendRawTransaction', [bytes]);
      return until('a contract', async () => {
        const receipt = await request('eth_getTransactionReceipt', [keccak256(bytes)]);
        return receipt === null ? undefined : (receipt as { readonly contractAddress: Address }).contractAddress;
      });
    }
  });
});
