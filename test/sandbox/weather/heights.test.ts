import assert from 'node:assert/strict';
import { type Script, weatherBefore } from './scripted.ts';

/** An EVM chain of 100 blocks: a block's hash is its number, and one transaction is in each. */
const evm: Script = {
  eth_blockNumber: '0x64',
  eth_getBlockByNumber: ([tag]: [string]) => ({
    number: tag === 'latest' ? '0x64' : tag === 'finalized' ? '0x5a' : tag,
  }),
  eth_getBlockByHash: ([hash]: [string]) => ({ number: hash }),
  eth_getTransactionReceipt: ([hash]: [string]) => ({ blockNumber: hash }),
  eth_getTransactionCount: ([, tag]: [string, string]) => tag,
  eth_getLogs: ([filter]: [object]) => [filter],
};

const stellar: Script = {
  getLatestLedger: { sequence: 100 },
  getEvents: ({ endLedger = 101 }: { endLedger?: number }) => ({
    events: [99, 100].filter((ledger) => ledger < endLedger).map((ledger) => ({ ledger, id: `event ${ledger}` })),
    cursor: `end of ${endLedger - 1}`,
    latestLedger: 100,
    oldestLedger: 1,
  }),
  getTransaction: ({ hash }: { hash: string }) => ({ status: 'SUCCESS', ledger: Number(hash), latestLedger: 100 }),
  getLedgerEntries: { entries: [{ key: 'k', xdr: 'new', lastModifiedLedgerSeq: 100 }], latestLedger: 100 },
};

describe('a node with lag', () => {
  it('has no newer blocks, receipts and states', async () => {
    const node = await weatherBefore('evm', evm, { lag: { blocks: 3 } });
    assert.equal(await node.result('eth_blockNumber'), '0x61');
    assert.deepEqual(await node.result('eth_getBlockByNumber', ['latest', false]), { number: '0x61' });
    assert.deepEqual(await node.result('eth_getBlockByNumber', ['finalized', false]), { number: '0x5a' });
    assert.deepEqual(await node.result('eth_getBlockByNumber', ['0x61', false]), { number: '0x61' });
    assert.equal(await node.result('eth_getBlockByNumber', ['0x62', false]), null);
    assert.equal(await node.result('eth_getBlockByHash', ['0x62', false]), null);
    assert.equal(await node.result('eth_getTransactionReceipt', ['0x64']), null);
    assert.deepEqual(await node.result('eth_getTransactionReceipt', ['0x61']), { blockNumber: '0x61' });
    assert.equal(await node.result('eth_getTransactionCount', ['0xa', 'latest']), '0x61');
    assert.equal(await node.result('eth_getTransactionCount', ['0xa', 'pending']), 'pending');
    await assert.rejects(node.result('eth_getTransactionCount', ['0xa', '0x62']), /header not found/);
  });

  it('refuses logs that it lacks, or omits them without an error', async () => {
    const node = await weatherBefore('evm', evm, { lag: { blocks: 3 } });
    const beyond = [{ fromBlock: '0x60', toBlock: '0x64' }];
    await assert.rejects(node.result('eth_getLogs', beyond), /-32602 block range extends beyond current head/);
    await assert.rejects(node.result('eth_getLogs', [{ blockHash: '0x62' }]), /-32000 unknown block/);
    assert.deepEqual(await node.result('eth_getLogs', [{ blockHash: '0x61' }]), [{ blockHash: '0x61' }]);

    node.change({ lag: { blocks: 3, beyond: 'empty' } });
    assert.deepEqual(await node.result('eth_getLogs', beyond), [{ fromBlock: '0x60', toBlock: '0x61' }]);
    assert.deepEqual(await node.result('eth_getLogs', [{ fromBlock: '0x62', toBlock: '0x64' }]), []);
    assert.deepEqual(await node.result('eth_getLogs', [{ blockHash: '0x62' }]), []);
  });

  it('lets the local Solana answer as of an older slot', async () => {
    const script = { sandbox_behind: ([call]: [object]) => call, getSlot: 100 };
    const node = await weatherBefore('solana', script, { lag: { blocks: 2 } });
    assert.deepEqual(await node.result('getSlot', [{ commitment: 'confirmed' }]), {
      slots: 2,
      method: 'getSlot',
      params: [{ commitment: 'confirmed' }],
    });
  });

  it('returns no newer ledger, event or transaction, and the older value of an entry', async () => {
    const node = await weatherBefore('stellar', stellar, { lag: { blocks: 1 } });
    assert.deepEqual(await node.result('getLatestLedger', {}), { sequence: 99 });
    const page = (await node.result('getEvents', { startLedger: 90 })) as Record<string, unknown>;
    assert.deepEqual(page['events'], [{ ledger: 99, id: 'event 99' }]);
    assert.deepEqual([page['cursor'], page['latestLedger']], ['end of 99', 99]);
    const next = (await node.result('getEvents', { pagination: { cursor: 'event 98' } })) as Record<string, unknown>;
    assert.deepEqual([next['events'], next['cursor']], [[{ ledger: 99, id: 'event 99' }], 'event 99']);
    await assert.rejects(node.result('getEvents', { startLedger: 100 }), /within the ledger range: 1 - 99/);
    const landed = (await node.result('getTransaction', { hash: '100' })) as Record<string, unknown>;
    assert.equal(landed['status'], 'NOT_FOUND');
  });

  it('remembers the older value of an entry', async () => {
    let entry = { key: 'k', xdr: 'old', lastModifiedLedgerSeq: 90 };
    const script = { getLedgerEntries: () => ({ entries: [entry], latestLedger: 100 }) };
    const node = await weatherBefore('stellar', script, { lag: { blocks: 2 } });
    const xdrOf = async () => {
      const { entries } = (await node.result('getLedgerEntries', { keys: ['k'] })) as { entries: (typeof entry)[] };
      return entries[0]?.xdr;
    };
    assert.equal(await xdrOf(), 'old');
    entry = { key: 'k', xdr: 'new', lastModifiedLedgerSeq: 99 };
    assert.equal(await xdrOf(), 'old');
    entry = { key: 'k', xdr: 'newest', lastModifiedLedgerSeq: 98 };
    assert.equal(await xdrOf(), 'newest');
  });
});

describe('a balancer', () => {
  const heads = async (seed: string): Promise<unknown[]> => {
    const node = await weatherBefore('evm', evm, { balancer: { lags: [0, 1, 2] } }, seed);
    const seen = [];
    for (let asked = 0; asked < 20; asked++) seen.push(await node.result('eth_blockNumber'));
    return seen;
  };

  it('sends each request to another back end, the same ones with the same seed', async () => {
    const first = await heads('monday');
    assert.deepEqual([...new Set(first)].sort(), ['0x62', '0x63', '0x64']);
    assert.deepEqual(await heads('monday'), first);
    assert.notDeepEqual(await heads('tuesday'), first);
  });

  it('sends the calls of a batch to one', async () => {
    const node = await weatherBefore('evm', evm, { balancer: { lags: [0, 1, 2] } });
    const call = { jsonrpc: '2.0', method: 'eth_blockNumber', params: [] };
    for (let asked = 0; asked < 10; asked++) {
      const { text } = await node.post([
        { ...call, id: 1 },
        { ...call, id: 2 },
      ]);
      const [one, other] = JSON.parse(text) as [{ result: string }, { result: string }];
      assert.equal(one.result, other.result);
    }
  });

  it('has an index of logs behind its heads, when the quirk is on', async () => {
    const node = await weatherBefore('evm', evm, { logsBehind: { blocks: 2 } });
    assert.equal(await node.result('eth_blockNumber'), '0x64');
    assert.deepEqual(await node.result('eth_getLogs', [{ fromBlock: '0x63', toBlock: '0x64' }]), []);
  });
});
