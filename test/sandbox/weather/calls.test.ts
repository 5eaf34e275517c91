import assert from 'node:assert/strict';
import { type Script, weatherBefore } from './scripted.ts';

type Answer = Record<string, unknown>;

describe('quirks of EVM nodes', () => {
  const script: Script = {
    eth_blockNumber: '0x64',
    eth_getLogs: Array.from({ length: 30 }, (_, at) => ({ logIndex: `0x${at.toString(16)}`, blockTimestamp: '0x1' })),
    eth_getTransactionReceipt: { logs: [{ logIndex: '0x2' }], blockNumber: '0x1' },
    eth_getBlockByNumber: ([tag]: [string]) => ({ number: tag }),
    eth_getTransactionCount: '0x5',
    eth_call: '0x01',
    eth_maxPriorityFeePerGas: '0x1',
    eth_sendRawTransaction: '0xaa',
  };
  const logs = (fromBlock: string, toBlock: string) => [{ fromBlock, toBlock }];

  it('rangeLimit: refuses logs of more blocks, in the provider’s words', async () => {
    const node = await weatherBefore('evm', script, { rangeLimit: { blocks: 10 } });
    await assert.rejects(node.result('eth_getLogs', logs('0x1', '0xb')), /-32600 .* up to a 10 block range/);
    assert.ok(await node.result('eth_getLogs', logs('0x1', '0xa')));
    node.change({ rangeLimit: { blocks: 5, code: -32614, message: 'limited to a {n} range' } });
    await assert.rejects(node.result('eth_getLogs', logs('0x1', '0x6')), /-32614 limited to a 5 range/);
  });

  it('sizeLimit and clippedPage: too many logs are refused, or omitted', async () => {
    const node = await weatherBefore('evm', script, { sizeLimit: { most: 20 } });
    await assert.rejects(node.result('eth_getLogs', logs('0x1', '0x2')), /-32005 query returned more than 20/);
    node.change({ sizeLimit: null, clippedPage: { most: 20 } });
    assert.equal(((await node.result('eth_getLogs', logs('0x1', '0x2'))) as unknown[]).length, 20);
  });

  it('nullReceipt: for some calls, or for ever for some transactions', async () => {
    const node = await weatherBefore('evm', script, { nullReceipt: { asks: 2 } });
    const seen = [];
    for (let asked = 0; asked < 3; asked++) seen.push(await node.result('eth_getTransactionReceipt', ['0xa']));
    assert.deepEqual(seen.map(Boolean), [false, false, true]);
    node.change({ nullReceipt: { hashes: ['0xb'] } });
    assert.equal(await node.result('eth_getTransactionReceipt', ['0xb']), null);
    assert.ok(await node.result('eth_getTransactionReceipt', ['0xa']));
  });

  it('shiftedLogIndex: the receipt numbers its logs otherwise', async () => {
    const node = await weatherBefore('evm', script, { shiftedLogIndex: { by: 7 } });
    const receipt = (await node.result('eth_getTransactionReceipt', ['0xa'])) as Answer;
    assert.deepEqual(receipt['logs'], [{ logIndex: '0x9' }]);
  });

  it('missingFields: logs without their time', async () => {
    const node = await weatherBefore('evm', script, { missingFields: { fields: ['blockTimestamp'] } });
    const [first] = (await node.result('eth_getLogs', logs('0x1', '0x2'))) as Answer[];
    assert.deepEqual(first, { logIndex: '0x0' });
  });

  it('finality: at genesis, refused, or null', async () => {
    const node = await weatherBefore('evm', script, { finality: { as: 'genesis' } });
    const final = () => node.result('eth_getBlockByNumber', ['finalized', false]);
    assert.deepEqual(await final(), { number: '0x0' });
    node.change({ finality: { as: 'null' } });
    assert.equal(await final(), null);
    node.change({ finality: { as: 'refused' } });
    await assert.rejects(final(), /-39001 finalized block not found/);
    assert.deepEqual(await node.result('eth_getBlockByNumber', ['latest', false]), { number: 'latest' });
  });

  it('syncing: answers as an empty chain', async () => {
    const node = await weatherBefore('evm', script, { syncing: {} });
    assert.equal(await node.result('eth_call', [{}, 'latest']), '0x');
    assert.equal(await node.result('eth_getTransactionCount', ['0xa', 'latest']), '0x0');
    assert.deepEqual(await node.result('eth_getBlockByNumber', ['latest', false]), { number: '0x0' });
  });

  it('disabledMethods: in the words of the provider', async () => {
    const off = { names: ['eth_getLogs'], code: -32005, message: 'limit exceeded' };
    const node = await weatherBefore('evm', script, { disabledMethods: off });
    await assert.rejects(node.result('eth_getLogs', logs('0x1', '0x1')), /-32005 limit exceeded/);
  });

  it('dearTip, prunedState, refusedBytes', async () => {
    const weather = { dearTip: { gwei: 100 }, prunedState: {}, refusedBytes: {} };
    const node = await weatherBefore('evm', { ...script, eth_blockNumber: '0x3e8' }, weather);
    assert.equal(await node.result('eth_maxPriorityFeePerGas'), '0x174876e800');
    await assert.rejects(node.result('eth_getTransactionCount', ['0xa', '0x1']), /missing trie node/);
    assert.equal(await node.result('eth_getTransactionCount', ['0xa', '0x3e0']), '0x5');
    await assert.rejects(node.result('eth_sendRawTransaction', ['0x02']), /rejected by chain policy/);
  });
});

describe('quirks of Solana nodes', () => {
  const balance = { accountIndex: 1, owner: 'o', programId: 'p', mint: 'm' };
  const script: Script = {
    getSlot: 100,
    getBlock: { blockhash: 'b' },
    getTransaction: { slot: 9, meta: { err: null, postTokenBalances: [balance], preTokenBalances: [] } },
    getSignaturesForAddress: Array.from({ length: 300 }, (_, at) => ({ signature: `s${at}` })),
    getMultipleAccounts: { value: [] },
  };

  it('v1Transactions: refuse requests for version 0', async () => {
    const node = await weatherBefore('solana', script, { v1Transactions: {} });
    const asking = (version?: number) =>
      node.result('getTransaction', ['s', version === undefined ? {} : { maxSupportedTransactionVersion: version }]);
    await assert.rejects(asking(0), /-32015 .*"maxSupportedTransactionVersion": 1/);
    await assert.rejects(asking(), /-32015/);
    assert.equal(((await asking(1)) as Answer)['version'], 1);
    const block = (transactionDetails: string) => node.result('getBlock', [9, { transactionDetails }]);
    await assert.rejects(block('full'), /-32015/);
    assert.ok(await block('none'));
  });

  it('nullMeta and historyGap: for some calls', async () => {
    const node = await weatherBefore('solana', script, {
      nullMeta: { asks: 1 },
      historyGap: { asks: 1, signatures: ['s7'] },
    });
    const meta = async () => ((await node.result('getTransaction', ['s'])) as Answer)['meta'];
    assert.equal(await meta(), null);
    assert.ok(await meta());
    const listed = async () => (await node.result('getSignaturesForAddress', ['a', { limit: 1000 }])) as unknown[];
    assert.equal((await listed()).length, 299);
    assert.equal((await listed()).length, 300);
  });

  it('missingFields: balances without owner and program', async () => {
    const node = await weatherBefore('solana', script, { missingFields: { fields: ['owner', 'programId'] } });
    const { meta } = (await node.result('getTransaction', ['s'])) as { meta: Answer };
    assert.deepEqual(meta['postTokenBalances'], [{ accountIndex: 1, mint: 'm' }]);
  });

  it('clippedPage and sizeLimit', async () => {
    const node = await weatherBefore('solana', script, { clippedPage: { most: 100 }, sizeLimit: { most: 5 } });
    await assert.rejects(node.result('getMultipleAccounts', [['1', '2', '3', '4', '5', '6'], {}]), /limited to 5/);
    node.change({ sizeLimit: null });
    const listed = (await node.result('getSignaturesForAddress', ['a', { limit: 1000 }])) as unknown[];
    assert.equal(listed.length, 100);
  });

  it('newestBlockMissing and finality', async () => {
    const node = await weatherBefore('solana', script, { newestBlockMissing: { slots: 1 } });
    await assert.rejects(node.result('getBlock', [100, {}]), /-32004 Block not available for slot 100/);
    assert.ok(await node.result('getBlock', [99, {}]));
    node.change({ newestBlockMissing: null, finality: { as: 'genesis' } });
    assert.equal(await node.result('getSlot', [{ commitment: 'finalized' }]), 0);
    assert.equal(await node.result('getSlot', [{ commitment: 'confirmed' }]), 100);
  });

  it('syncing: unhealthy', async () => {
    const node = await weatherBefore('solana', script, { syncing: {} });
    await assert.rejects(node.result('getSlot', []), /-32005 Node is unhealthy/);
  });
});

describe('quirks of Stellar nodes', () => {
  const script: Script = {
    getNetwork: { passphrase: 'p' },
    getEvents: ({ pagination }: { pagination: { limit: number } }) => ({
      events: Array.from({ length: Math.min(30, pagination.limit) }, () => ({ txHash: 'h', value: 'v' })),
      latestLedger: 100,
      oldestLedger: 1,
    }),
    getTransactions: { transactions: [{ txHash: 'h', events: { transactionEventsXdr: ['fee'] } }] },
  };
  const page = { startLedger: 50, pagination: { limit: 1000 } };

  it('clippedPage and sizeLimit', async () => {
    const node = await weatherBefore('stellar', script, { clippedPage: { most: 10 } });
    assert.equal((((await node.result('getEvents', page)) as Answer)['events'] as unknown[]).length, 10);
    node.change({ clippedPage: null, sizeLimit: { most: 100 } });
    await assert.rejects(node.result('getEvents', page), /-32602 getEvents is limited to 100/);
  });

  it('silentEvents and unreadableEvent', async () => {
    const node = await weatherBefore('stellar', script, { silentEvents: {} });
    assert.deepEqual(((await node.result('getEvents', page)) as Answer)['events'], []);
    const { transactions } = (await node.result('getTransactions', {})) as { transactions: Answer[] };
    assert.deepEqual(transactions, [{ txHash: 'h', events: {} }]);
    node.change({ silentEvents: null, unreadableEvent: {} });
    const { events } = (await node.result('getEvents', page)) as { events: Answer[] };
    assert.deepEqual(events[0], { txHash: 'h', value: 'AAAAZQ==' });
  });

  it('shortMemory and syncing', async () => {
    const node = await weatherBefore('stellar', script, { shortMemory: { ledgers: 20 } });
    await assert.rejects(node.result('getEvents', page), /within the ledger range: 81 - 100/);
    node.change({ shortMemory: null, syncing: {} });
    await assert.rejects(node.result('getEvents', page), /data stores are not initialized/);
    assert.ok(await node.result('getNetwork', {}));
  });
});
