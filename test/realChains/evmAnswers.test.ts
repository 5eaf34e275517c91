import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Address, encodeDeployData, encodeFunctionData, erc20Abi, type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { type Anvil, startAnvil } from '../../sandbox/anvil.ts';
import { sandboxToken } from '../../sandbox/contracts/artifacts/SandboxToken.ts';
import { freePort } from '../../sandbox/freePort.ts';
import { endowOnGeth, type Geth, startGeth } from '../../sandbox/realNodes/geth.ts';
import { fund, plantTokens } from '../../sandbox/tokens.ts';
import { isRevert } from '../../src/chains/evm/payouts/preflight.ts';
import { refusalKind } from '../../src/chains/evm/payouts/rail.ts';
import { RpcFailed } from '../../src/chains/evm/rpc.ts';
import { isSwitchedOff, meaningOf } from '../../src/chains/node/jsonRpc.ts';
import { keyOf } from '../support/anvil.ts';
import { patience_ms } from '../support/patience.ts';
import { describeOnReal, realNodes } from '../support/realNodes.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { type Nodes, post, seedFrom } from './comparison.ts';
import { calls, envelopes, holder, table } from './evmCalls.ts';
import {
  type Answers,
  type Asked,
  askBoth,
  createComparison,
  type KindOfError,
  postBoth,
  resultOf,
  rowsOf,
} from './evmComparison.ts';
import { meantDifferences } from './evmDifferences.ts';
import { generatedCalls, generatedPrograms, generatedTransactions } from './evmGenerated.ts';
import { type Fields, sent, signed } from './evmTransactions.ts';

/** Classifies an error like the product. */
const kindOfError: KindOfError = ({ method }, { code, message }) => {
  const refusal = { code, message, words: message };
  if (isSwitchedOff(refusal)) return 'no such method';
  if (isRevert(new RpcFailed('node', method, 'refused', message, code))) return 'reverted';
  if (method === 'eth_sendRawTransaction') return refusalKind(message);
  return meaningOf(refusal);
};

const usdc = (findToken(chainOf(1), 'USDC')?.address ?? assert.fail('Ethereum has USDC')) as Address;
const receiver = '0x000000000000000000000000000000000000dEaD';
const [waitingKey, payingKey, poorKey] = [keyOf(6_001), keyOf(6_002), keyOf(6_003)] as const;
const addressOf = (key: Hex): Address => privateKeyToAccount(key).address;
const ether = 10n ** 18n;
const seed = seedFrom('COMPARE_SEED');
const poll_ms = 200;
const polls = patience_ms / poll_ms;

describe('the differences between anvil and geth', () => {
  const root = new URL('../../', import.meta.url);

  it('are rows of docs/contribute/real-chains.md', () => {
    const page = readFileSync(new URL('docs/contribute/real-chains.md', root), 'utf8');
    const [, section = ''] = page.split('\n## EVM chains\n');
    const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| `/.test(line));
    assert.deepEqual(rows, rowsOf(meantDifferences));
  });

  it('are searched in each method that the product calls', () => {
    const folder = new URL('src/chains/evm/', root);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const called = files.flatMap((name) =>
      [...readFileSync(new URL(name, folder), 'utf8').matchAll(/'(eth_[a-zA-Z]+)'/g)].map(([, method]) => method ?? ''),
    );
    const known = new Set([...Object.keys(table), 'eth_subscription']);
    assert.deepEqual(
      [...new Set(called)].filter((method) => !known.has(method)),
      [],
    );
  });
});

describeOnReal(['GETH'], 'anvil answers as geth does', () => {
  const folder = temporaryDirectory();
  const stateFile = join(folder, 'anvil.json');
  const comparison = createComparison(meantDifferences, kindOfError);
  let ports: { readonly geth: number; readonly anvil: number };
  let geth: Geth;
  let anvil: Anvil;
  let nodes: Nodes;

  async function start(): Promise<void> {
    const logFile = join(folder, 'geth.log');
    const program = realNodes.GETH ?? assert.fail('GETH is not set');
    [geth, anvil] = await Promise.all([
      startGeth({ program, chainId: 1, folder, logFile, port: ports.geth }),
      startAnvil({ chainId: 1, mining: { blockTime_s: 1 }, slotsInEpoch: 32, stateFile, port: ports.anvil }),
    ]);
    nodes = { imitation: anvil.rpcUrl, real: geth.rpcUrl };
  }

  const stop = () => Promise.all([geth?.stop(), anvil?.stop()]);

  before(async () => {
    ports = { geth: await freePort(2), anvil: await freePort() };
    await start();
    await plantTokens(anvil.rpcUrl, 1);
    await endowOnGeth(geth.rpcUrl, 1, [[holder, { coin: 100n * ether }]]);
    await quiet();
  });
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Waits until the newest block of each node is empty, so that both answer with the same shape. */
  async function quiet(): Promise<void> {
    for (let tries = 0; tries < polls; tries += 1) {
      const blocks = await results({ method: 'eth_getBlockByNumber', about: 'newest', params: ['latest', false] });
      if (blocks.every((block) => (block as { readonly transactions: readonly unknown[] }).transactions.length === 0))
        return;
      await sleep(poll_ms);
    }
    assert.fail('the newest blocks were never empty');
  }

  async function fundAccounts(): Promise<void> {
    for (const account of [waitingKey, payingKey].map(addressOf)) {
      const [coin, tokens] = [100n * ether, { USDC: 1_000_000n }];
      await endowOnGeth(geth.rpcUrl, 1, [[account, { coin, tokens }]]);
      await fund(anvil.rpcUrl, 1, account, { gas: coin, tokens });
    }
  }

  const check = (property: fc.IAsyncProperty<unknown>, numRuns: number, endOnFailure = false) =>
    fc.assert(property, { seed, numRuns, endOnFailure });

  async function compare(asked: Asked): Promise<Answers> {
    const answers = await askBoth(nodes, asked);
    comparison.assertSameAnswer(answers);
    return answers;
  }

  /** Returns both results: first anvil's, then geth's. */
  async function results(asked: Asked): Promise<readonly [unknown, unknown]> {
    const answers = await askBoth(nodes, asked);
    return [resultOf(answers, answers.imitation), resultOf(answers, answers.real)];
  }

  const send = async (about: string, key: Hex, changes: Partial<Fields>): Promise<Hex> => {
    const bytes = await signed(key, changes);
    await compare({ method: 'eth_sendRawTransaction', about, params: [bytes] });
    return bytes;
  };

  /** Waits until both nodes have mined a transaction. */
  async function mined(hash: Hex): Promise<void> {
    for (let tries = 0; tries < polls; tries += 1) {
      const receipts = await results({ method: 'eth_getTransactionReceipt', about: 'until mined', params: [hash] });
      if (receipts.every((receipt) => receipt !== null)) return;
      await sleep(poll_ms);
    }
    assert.fail(`${hash} was not mined on both nodes`);
  }

  /** Waits until geth has sent a transaction again from its journal, which it reads 10 s after its start. */
  async function waitsAgain(hash: Hex): Promise<void> {
    for (let tries = 0; tries < polls; tries += 1) {
      const { real } = await askBoth(nodes, { method: 'eth_getTransactionByHash', about: 'again', params: [hash] });
      if ((real.body as { readonly result?: unknown }).result !== null) return;
      await sleep(poll_ms);
    }
    assert.fail(`geth has not sent ${hash} again`);
  }

  /** Compares all that the nodes return about a transaction. */
  async function compareTransaction(about: string, hash: Hex): Promise<void> {
    await compare({ method: 'eth_getTransactionByHash', about, params: [hash] });
    await compare({ method: 'eth_getTransactionReceipt', about, params: [hash] });
  }

  describe('to calls', () => {
    for (const asked of calls) it(`${asked.method}: ${asked.about}`, () => compare(asked));
  });

  describe(`to calls that are generated with the seed ${seed} (COMPARE_SEED)`, () => {
    it('calls', () =>
      check(
        fc.asyncProperty(generatedCalls, async (asked) => void (await compare(asked))),
        150,
      ));

    it('code', () =>
      check(
        fc.asyncProperty(generatedPrograms, async (asked) => void (await compare(asked))),
        300,
      ));
  });

  describe('to requests', () => {
    for (const { about, body, init } of envelopes)
      it(about, async () => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        comparison.assertSameAnswer(await postBoth(nodes, { method: 'any', about }, text, init));
      });
  });

  describe('to transactions that it refuses or that wait', () => {
    before(fundAccounts);

    for (const { about, changes, geth: meant } of sent)
      it(about, async () => {
        const bytes = await signed(waitingKey, changes);
        const asked = { method: 'eth_sendRawTransaction', about, params: [bytes] };
        const { real } = await compare(asked);
        const { error } = real.body as { readonly error?: { readonly code: number; readonly message: string } };
        assert.equal(error && refusalKind(error.message), meant, error?.message);
      });

    it(`generated with the seed ${seed} (COMPARE_SEED)`, () => {
      let nonce = 1_000n;
      const sending = fc.asyncProperty(generatedTransactions, async ({ about, changes }) => {
        nonce += 1n;
        await send(about, waitingKey, { ...changes, nonce });
      });
      // Smaller examples of a transaction would replace it.
      return check(sending, 60, true);
    });

    it('from an account without coin', async () => {
      await send('from an account without coin', poorKey, {});
    });

    it('with a fee cap below the base fee', async () => {
      await send('a fee cap below the base fee', waitingKey, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
    });

    it('shown while they wait, and not when they were replaced', async () => {
      const { changes: first } = sent.find(({ about }) => about === 'a nonce that is too high') ?? assert.fail();
      const { changes: last } = sent.find(({ about }) => about === 'a replacement at an eighth more') ?? assert.fail();
      await compareTransaction('replaced', keccak256(await signed(waitingKey, first)));
      await compareTransaction('waiting', keccak256(await signed(waitingKey, last)));
    });

    for (const tag of ['latest', 'pending'])
      it(`and do not count in the ${tag} nonce above a gap`, async () => {
        const params = [addressOf(waitingKey), tag];
        await compare({ method: 'eth_getTransactionCount', about: `${tag}, above a gap`, params });
      });
  });

  describe('to the same transactions, with the same results', () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver, 5n] });
    const tooMuch = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver, ether] });
    const creation = encodeDeployData({ ...sandboxToken, args: ['TEST', 6] });
    const scenarios: readonly (readonly [string, Partial<Fields>])[] = [
      ['a transfer of coin', {}],
      ['a transfer of tokens', { to: usdc, value: 0n, gas: 100_000n, data }],
      ['a transfer of too many tokens, which reverts', { to: usdc, value: 0n, gas: 100_000n, data: tooMuch }],
      ['a call that runs out of gas', { to: usdc, value: 0n, gas: 30_000n, data }],
      ['a new contract', { to: null, value: 0n, gas: 3_000_000n, data: creation }],
    ];
    const hashes: Hex[] = [];

    for (const [nonce, [about, changes]] of scenarios.entries())
      it(about, async () => {
        const bytes = await send(about, payingKey, { ...changes, nonce: BigInt(nonce) });
        const hash = keccak256(bytes);
        hashes.push(hash);
        await mined(hash);
        await compareTransaction('mined', hash);
        const receipts = await results({ method: 'eth_getTransactionReceipt', about, params: [hash] });
        const [ours, theirs] = receipts.map(effectsOf);
        assert.deepEqual(ours, theirs);
        await send('mined', payingKey, { ...changes, nonce: BigInt(nonce) });
        const other = { ...changes, nonce: BigInt(nonce), gas: 3_000_001n };
        await send('another one of a used nonce', payingKey, other);
        await compareBlockOf(hash);
      });

    it('balances and nonces', async () => {
      const account = addressOf(payingKey);
      const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] });
      for (const asked of [
        { method: 'eth_call', params: [{ to: usdc, data: balanceOf }, 'latest'] },
        { method: 'eth_getTransactionCount', params: [account, 'latest'] },
        { method: 'eth_getTransactionCount', params: [account, 'pending'] },
        { method: 'eth_getCode', params: [usdc, 'latest'] },
      ]) {
        const [ours, theirs] = await results({ ...asked, about: 'after the transactions' });
        assert.deepEqual(ours, theirs, asked.method);
      }
    });

    it('logs and fees of all blocks', async () => {
      const filter = { address: usdc, fromBlock: '0x1', toBlock: 'latest' };
      await compare({ method: 'eth_getLogs', about: 'blocks with transfers', params: [filter] });
      await compare({ method: 'eth_feeHistory', about: 'blocks with transfers', params: ['0x14', 'latest', [50]] });
    });

    /** Asks each node for its own block. */
    async function compareBlockOf(hash: Hex): Promise<void> {
      const asked = { method: 'eth_getTransactionReceipt', about: 'mined', params: [hash] };
      const places = (await results(asked)).map((receipt) => receipt as { readonly blockHash: Hex });
      const [ours, theirs] = places.map(({ blockHash }) => blockHash);
      for (const [method, paramsOf] of [
        ['eth_getBlockByHash', (block: unknown) => [block, true]],
        ['eth_getBlockReceipts', (block: unknown) => [block]],
        ['eth_getLogs', (block: unknown) => [{ blockHash: block }]],
      ] as const) {
        const [own, real] = [ours, theirs].map((block) => ({ method, about: 'mined', params: paramsOf(block) }));
        assert.ok(own && real);
        const { imitation } = await askBoth(nodes, own);
        comparison.assertSameAnswer({ ...(await askBoth(nodes, real)), imitation });
      }
    }

    it('and forgets them when their blocks leave the chain', async () => {
      const hash = keccak256(await send('a transfer of coin', payingKey, { nonce: 5n }));
      await mined(hash);
      const blocks = (await results({ method: 'eth_getTransactionReceipt', about: 'mined', params: [hash] })).map(
        (receipt) => receipt as { readonly blockHash: Hex; readonly blockNumber: Hex },
      );
      await removeBlocks(blocks.map(({ blockNumber }) => BigInt(blockNumber)));
      await compareTransaction('removed', hash);
      const account = addressOf(payingKey);
      await compare({ method: 'eth_getTransactionCount', about: 'removed', params: [account, 'latest'] });
      for (const [method, paramsOf] of [
        ['eth_getBlockByHash', (block: unknown) => [block, false]],
        ['eth_getBlockReceipts', (block: unknown) => [block]],
        ['eth_getLogs', (block: unknown) => [{ blockHash: block }]],
        ['eth_getBalance', (block: unknown) => [account, { blockHash: block }]],
      ] as const) {
        const [own, real] = blocks.map(({ blockHash }) => ({ method, about: 'removed', params: paramsOf(blockHash) }));
        assert.ok(own && real);
        const { imitation } = await askBoth(nodes, own);
        comparison.assertSameAnswer({ ...(await askBoth(nodes, real)), imitation });
      }
      await send('removed', payingKey, { nonce: 5n });
      await mined(hash);
      await compareTransaction('mined', hash);
    });

    /** Removes blocks on each node, from a height on. */
    async function removeBlocks([anvilHeight = 0n, gethHeight = 0n]: readonly bigint[]): Promise<void> {
      const [head] = await results({ method: 'eth_blockNumber', about: 'the newest', params: [] });
      const depth = Number(BigInt(String(head)) - anvilHeight + 1n);
      const rpc = (method: string, params: readonly unknown[]) =>
        JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const answers = [
        await post(nodes.imitation, rpc('anvil_reorg', [depth, []])),
        await post(nodes.real, rpc('debug_setHead', [`0x${(gethHeight - 1n).toString(16)}`])),
      ];
      for (const { body } of answers) assert.equal((body as { readonly error?: unknown }).error, undefined);
    }
  });

  describe('after a restart', () => {
    before(async () => {
      await stop();
      await start();
      await quiet();
    });

    it('to calls of blocks and accounts', async () => {
      const about = 'after a restart';
      await compare({ method: 'eth_getBlockByNumber', about, params: ['latest', false] });
      await compare({ method: 'eth_getTransactionCount', about, params: [addressOf(payingKey), 'pending'] });
      await compare({ method: 'eth_getLogs', about, params: [{ address: usdc, fromBlock: '0x1', toBlock: 'latest' }] });
    });

    it('to a mined transaction', async () => {
      await compareTransaction('mined', keccak256(await signed(payingKey, { nonce: 0n })));
    });

    it('to a transaction that waited', async () => {
      const { changes } = sent.find(({ about }) => about === 'a replacement at an eighth more') ?? assert.fail();
      const hash = keccak256(await signed(waitingKey, changes));
      await waitsAgain(hash);
      await compareTransaction('waiting before a restart', hash);
    });
  });

  describe('except for the accepted differences', () => {
    it('each of which exists', () => assert.deepEqual(comparison.unseen().map(String), []));
  });
});

/** The parts of a receipt that are the same on each chain. */
function effectsOf(receipt: unknown): unknown {
  const { status, gasUsed, contractAddress, from, to, logs, logsBloom } = receipt as Readonly<Record<string, unknown>>;
  const own = (logs as readonly Readonly<Record<string, unknown>>[]).map(({ address, topics, data }) => ({
    address,
    topics,
    data,
  }));
  return { status, gasUsed, contractAddress, from, to, logsBloom, logs: own };
}
