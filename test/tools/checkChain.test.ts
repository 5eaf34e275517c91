import assert from 'node:assert/strict';
import { encodeFunctionData, type Hex, parseEther } from 'viem';
import { chainOf } from '../../domain/chains.ts';
import { networks as testNetworks } from '../../domain/testNetworks.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { fund, plantTokens, sandboxTokenAbi } from '../../sandbox/tokens.ts';
import { forgetChain, rememberIdentity } from '../../src/postgres/chainIdentities.ts';
import { createCursors } from '../../src/postgres/cursors.ts';
import type { Database } from '../../src/postgres/database.ts';
import { systemClock } from '../../src/process/system.ts';
import { openEventStore } from '../../src/store/client.ts';
import { eventStoreOf } from '../../tools/connections.ts';
import { type NodeProxy, Refusal, startProxy } from '../chains/proxy.ts';
import { type ChainClient, chainClient, isolatedAnvil, treasury } from '../support/anvil.ts';
import { onStop } from '../support/hooks.ts';
import { runTool, type Told } from '../support/operatorTools.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('npm run check-chain', () => {
  let rpcUrl: string;
  let client: ChainClient;
  let poor: NodeProxy;
  let database: Database;
  before(async () => {
    ({ rpcUrl } = await isolatedAnvil(8453, { mining: { blockTime_s: 0.2 } }));
    client = chainClient(rpcUrl);
    // On a chain of a few blocks only the first one is final.
    await client.mine({ blocks: 10 });
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 1_000_000n } });
    poor = await startProxy(rpcUrl, (method, params, forward) =>
      method === 'eth_getLogs'
        ? Promise.reject(new Refusal(-32_601, 'eth_getLogs is disabled'))
        : forward(method, params),
    );
  });
  beforeEach(async () => {
    database = await freshDatabase();
  });

  const check = (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    options: readonly string[] = [],
    chain = '8453',
  ): Promise<Told> =>
    runTool('checkChain', [chain, ...args], { database, env: { RPC_URLS_8453: rpcUrl, ...env }, options });

  it('states of each node its kind, its methods and its head; the address of a node may contain a key and is not printed', async () => {
    const { code, said } = await check([], { RPC_URLS_8453: `${rpcUrl}/?key=secret` });
    const { hash } = await client.getBlock({ blockNumber: 0n });
    assert.equal(code, 0, said);
    assert.match(said, /node 1 \(127\.0\.0\.1:\d+\).*'fit'/);
    assert.match(said, new RegExp(`network ${hash}`));
    assert.match(said, /logs by block range: 2000 blocks at a time/);
    assert.match(said, /several calls in one request: 20 calls are answered/);
    assert.match(said, /rebalances by CCTP: no contracts at 0x/);
    assert.doesNotMatch(said, /secret/);
  });

  it('names a node that cannot serve and why, and a node of another network, and exits with 1', async () => {
    const { code, said } = await check([], { RPC_URLS_8453: `${rpcUrl},${poor.url}` });
    assert.equal(code, 1);
    assert.match(said, /node 1 .*'fit'[\s\S]*node 2 .*'unfit'/);
    assert.match(said, /! node 2 .*eth_getLogs is disabled.*use another node/);
    await rememberIdentity(database, 8453, '0xanother', systemClock.now());
    const foreign = await check([]);
    assert.equal(foreign.code, 1);
    assert.match(foreign.said, /! it is of another network than 0xanother/);
  });

  describe('--begun-anew', () => {
    const books = `books-8453-${treasury}`;
    let data: string;
    beforeEach(async () => {
      data = temporaryDirectory();
      await rememberIdentity(database, 8453, '0xanother', systemClock.now());
      await createCursors(database).save(cursorAt(10n ** 9n), null);
    });
    const begin = (...args: readonly string[]) => check(['--begun-anew', ...args], { DATA_DIR: data });
    const cursorAt = (blockNumber: bigint) =>
      ({ chainId: 8453, pass: 'head', blockNumber, blockHash: '0x', chainTime: minute(1) }) as const;

    /** Events of the log that the tool used. */
    async function eventsIn(stream: string) {
      const { eventStoreUrl, close } = await eventStoreOf({ data }, 'join');
      const store = openEventStore({ url: eventStoreUrl });
      const events = await store.read(stream);
      await store.close();
      await close();
      return events;
    }

    it('closes the books of the old network and forgets its cursors', async () => {
      const { code, said } = await begin();
      assert.equal(code, 0, said);
      assert.match(said, new RegExp(`the books of ${treasury} are closed`));
      assert.equal(await createCursors(database).load(8453, 'head'), null);
      const [closed, ...others] = await eventsIn(books);
      assert.ok(closed && others.length === 0);
      const { reason, network } = closed.data as { reason: string; network: string };
      assert.deepEqual(
        [closed.type, reason, network, closed.metadata.cause.startsWith('operator:')],
        ['BooksNetworkClosed', 'networkBegunAnew', '0xanother', true],
      );
      assert.equal((await check([])).code, 0);
    });

    it('closes nothing twice', async () => {
      await begin();
      const { code, said } = await begin();
      assert.equal(code, 0, said);
      assert.doesNotMatch(said, /are closed/);
      assert.equal((await eventsIn(books)).length, 1);
    });

    it('continues where it died before', async () => {
      const died = await check(['--begun-anew'], { DATA_DIR: data, CRASH_AT: 'BooksNetworkClosed.afterAppend' });
      assert.notEqual(died.code, 0);
      assert.ok(await createCursors(database).load(8453, 'head'));
      const { code, said } = await begin();
      assert.equal(code, 0, said);
      assert.equal((await eventsIn(books)).length, 1);
      assert.equal(await createCursors(database).load(8453, 'head'), null);
    });

    it('refuses while a node returns the known network, unless it is forced', async () => {
      const { hash } = await client.getBlock({ blockNumber: 0n });
      await forgetChain(database, 8453);
      await rememberIdentity(database, 8453, hash, systemClock.now());
      await createCursors(database).save(cursorAt(3n), null);
      const { code, said } = await begin();
      assert.equal(code, 1);
      assert.match(said, /Base: nothing to do\. node 1 .* serves the network that was read/);
      assert.ok(await createCursors(database).load(8453, 'head'));
      const forced = await begin('--force');
      assert.equal(forced.code, 0, forced.said);
      assert.equal((await eventsIn(books)).length, 1);
    });

    it('refuses while no node answers', async () => {
      const { code, said } = await check(['--begun-anew'], { DATA_DIR: data, RPC_URLS_8453: 'http://127.0.0.1:9' });
      assert.equal(code, 1);
      assert.match(said, /no node answers/);
      assert.ok(await createCursors(database).load(8453, 'head'));
    });
  });

  it('pays a cent from the treasury to itself and waits until it is final', async () => {
    const { code, said } = await check(['--pay']);
    assert.equal(code, 0, said);
    assert.match(said, /0x\w+ pays 0\.01 USDC to itself\.\n {2}signed: 0x[0-9a-f]{64}\n/);
    assert.match(said, /It is final in block \d+, \d+ s after/);
    assert.equal(await client.getTransactionCount({ address: treasury }), 1);
  });

  it('spends real money only with a stated amount, and never more than a whole token', async () => {
    const production = {
      ...{ MODE: 'production', PUBLIC_URL: 'https://pay.example.com', EVENTSTORE_URL: 'embedded' },
      SETTLEMENT_COOLDOWN_HOURS: '48',
    };
    const unnamed = await check(['--pay'], production);
    assert.equal(unnamed.code, 1);
    assert.match(unnamed.said, /this moves real money: state the amount, for example --pay 0\.01/);
    assert.match((await check(['--pay', '1.01'])).said, /use an amount of at most 1 USDC/);
    assert.ok((await client.getTransactionCount({ address: treasury })) <= 1);
  });

  it('does the same on a test network, whose chain id and token are others; a node of the main network does not fit there', async () => {
    const anvil = await startAnvil({ chainId: 84_532, mining: { blockTime_s: 0.2 } });
    onStop(() => anvil.stop());
    await plantTokens(anvil.rpcUrl, 8453);
    const [main, test] = [chainOf(8453), testNetworks.find(({ id }) => id === 8453)].map(
      (chain) => chain?.tokens[0]?.address as Hex,
    );
    assert.ok(main && test);
    const there = chainClient(anvil.rpcUrl);
    await there.setCode({ address: test, bytecode: (await there.getCode({ address: main })) ?? '0x' });
    await fund(anvil.rpcUrl, 8453, treasury, { gas: parseEther('1') });
    const data = encodeFunctionData({ abi: sandboxTokenAbi, functionName: 'mint', args: [treasury, 1_000_000n] });
    const [minter] = await there.getAddresses();
    assert.ok(minter);
    await there.waitForTransactionReceipt({
      hash: await there.sendTransaction({ account: minter, chain: null, to: test, data }),
    });

    const onTest = ['--conditions=test-networks'];
    const { code, said } = await check(['--pay'], { RPC_URLS_8453: anvil.rpcUrl }, onTest);
    assert.equal(code, 0, said);
    assert.match(said, /^Base Sepolia;[\s\S]*pays 0\.01 USDC to itself[\s\S]*It is final in block/);
    const foreign = await check([], {}, onTest);
    assert.equal(foreign.code, 1);
    assert.match(foreign.said, /serves chain 8453, configured for 84532/);
  });

  it('accepts a chain by its name as well, and lists the chains', async () => {
    const { code, said } = await check([], {}, [], 'base');
    assert.equal(code, 0, said);
    assert.match(said, /^Base; its network/);
    const unknown = await check([], {}, [], 'bitcoin');
    assert.equal(unknown.code, 1);
    assert.match(unknown.said, /bitcoin is not a chain of the catalogue: use one of Base \(8453\)/);
  });

  it('names the settings for a chain that is not configured', async () => {
    const { code, said } = await check([], { RPC_URLS_8453: '', RPC_URLS_1: rpcUrl });
    assert.equal(code, 1);
    assert.match(said, /Base is not configured: set RPC_URLS_8453/);
  });
});
