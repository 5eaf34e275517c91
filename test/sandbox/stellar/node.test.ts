import assert from 'node:assert/strict';
import { Asset, Keypair, Networks, Operation, rpc, scValToNative, xdr } from '@stellar/stellar-sdk';
import { closeLedgers, plantAsset } from '../../../sandbox/stellar/controls.ts';
import { addressArg, i128Arg, type StellarLab, stellarLab, usdc } from '../../support/stellar.ts';

const headers = { 'content-type': 'application/json' };
const text = (symbol: string) => xdr.ScVal.scvSymbol(symbol).toXDR('base64');

describe('local Stellar: the node', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let payer: Keypair;
  before(async () => {
    lab = await stellarLab({ ledger_ms: 'manual' });
    [treasury, payer] = [await lab.person(0n), await lab.person()];
  });
  after(() => lab.stop());

  const payment = (amount = '1') => Operation.payment({ destination: treasury.publicKey(), asset: usdc, amount });
  const pay = async (amount?: string) => {
    const got = await lab.go(payer, [payment(amount)]);
    assert.equal(got.status, 'SUCCESS');
    return got;
  };

  it('describes itself and its network', async () => {
    const { server } = lab;
    assert.equal((await server.getHealth()).status, 'healthy');
    assert.equal((await server.getNetwork()).passphrase, Networks.PUBLIC);
    assert.equal((await server.getVersionInfo()).protocolVersion, 27);
    const latest = await server.getLatestLedger();
    assert.equal(latest.sequence, (await server.getHealth()).latestLedger);
    assert.equal(latest.headerXdr.ledgerSeq(), latest.sequence);
  });

  it('states the prices of the newest transactions, and 0 without any', async () => {
    await closeLedgers(lab.stellar.rpcUrl, 10);
    assert.equal((await lab.server.getFeeStats()).inclusionFee.p90, '0');
    await pay();
    const { inclusionFee } = await lab.server.getFeeStats();
    assert.equal(inclusionFee.p90, '100');
    assert.equal(inclusionFee.transactionCount, '1');
  });

  it('refuses params of methods that have none, even empty ones', async () => {
    const codeOf = async (method: string, params: unknown) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const answer = await fetch(lab.stellar.rpcUrl, { method: 'POST', headers, body });
      return ((await answer.json()) as { readonly error?: { readonly code: number } }).error?.code;
    };
    for (const method of ['getHealth', 'getLatestLedger', 'getFeeStats', 'getVersionInfo']) {
      for (const params of [undefined, null]) assert.equal(await codeOf(method, params), undefined, method);
      for (const params of [{}, [], { limit: 1 }]) assert.equal(await codeOf(method, params), -32602, method);
    }
  });

  it('gives USDC the contract id of the public network', () => {
    assert.equal(lab.usdcId, 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75');
  });

  it('answers unknown requests like a node', async () => {
    const ask = async (method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      const response = await fetch(lab.stellar.rpcUrl, { method: 'POST', headers, body });
      const answer = (await response.json()) as { id: number; error: { code: number } };
      assert.equal(answer.id, 7);
      return answer.error.code;
    };
    assert.equal(await ask('getEverything', {}), -32601);
    assert.equal(await ask('getTransaction', { hash: 'x' }), -32602);
    assert.equal(await ask('sendTransaction', { transaction: 'AAAA' }), -32602);
    assert.equal(await ask('getLedgerEntries', { keys: ['AAAA', 'x'] }), -32602);
    assert.equal(await ask('getEvents', { startLedger: 9_999_999 }), -32600);
    assert.equal(await ask('getEvents', { startLedger: 1_001, filters: Array(6).fill({}) }), -32602);
    assert.equal(await ask('getEvents', { pagination: { cursor: 'x' } }), -32602);
  });

  it('creates accounts for the SDK’s faucet calls, once', async () => {
    const fresh = Keypair.random().publicKey();
    const funded = await lab.server.fundAddress(fresh);
    assert.equal(funded.status, 'SUCCESS');
    assert.equal((await lab.server.getAccountEntry(fresh)).balance().toString(), '100000000000');
    await assert.rejects(lab.server.fundAddress(fresh), /createAccountAlreadyExist|400/);
    const other = Keypair.random().publicKey();
    assert.equal((await lab.server.requestAirdrop(other)).accountId(), other);
  });

  describe('events', () => {
    it('are returned in order, page by page, each once', async () => {
      const { latestLedger } = await lab.server.getHealth();
      for (const amount of ['1', '2', '3', '4', '5']) await pay(amount);
      const filters = [{ type: 'contract' as const, contractIds: [lab.usdcId], topics: [[text('transfer'), '**']] }];
      const seen: bigint[] = [];
      let page = await lab.server.getEvents({ startLedger: latestLedger + 1, filters, limit: 2 });
      while (page.events.length > 0) {
        seen.push(...page.events.map(({ value }) => scValToNative(value)));
        page = await lab.server.getEvents({ cursor: page.cursor, filters, limit: 2 });
      }
      assert.deepEqual(
        seen,
        [1n, 2n, 3n, 4n, 5n].map((whole) => whole * 10_000_000n),
      );
    });

    it('are not missed by a watcher that was away for 1,000 ledgers', async () => {
      const filters = [{ type: 'contract' as const, contractIds: [lab.usdcId] }];
      const { latestLedger } = await lab.server.getHealth();
      const { cursor } = await lab.server.getEvents({ startLedger: latestLedger, filters });
      const made: string[] = [];
      for (let times = 0; times < 4; times++) {
        await closeLedgers(lab.stellar.rpcUrl, 250);
        made.push((await pay()).txHash);
      }
      const { events } = await lab.server.getEvents({ cursor, filters });
      assert.deepEqual(
        events.map(({ txHash }) => txHash),
        made,
      );
    });

    it('are searched in 10,000 ledgers at most: the cursor states how far', async () => {
      const { latestLedger } = await lab.server.getHealth();
      await closeLedgers(lab.stellar.rpcUrl, 10_000);
      const got = await pay();
      const filters = [{ type: 'contract' as const, contractIds: [lab.usdcId] }];
      const first = await lab.server.getEvents({ startLedger: latestLedger + 1, filters });
      assert.equal(first.events.length, 0);
      const second = await lab.server.getEvents({ cursor: first.cursor, filters });
      assert.deepEqual(
        second.events.map(({ txHash }) => txHash),
        [got.txHash],
      );
    });

    it('pass filters by contract and topics: exact, any one, any number', async () => {
      const other = await plantAsset(lab.stellar.rpcUrl, new Asset('EURC', treasury.publicKey()));
      const { ledger } = await pay();
      const count = async (contractIds: string[], topics: string[][]) => {
        const { events } = await lab.server.getEvents({
          startLedger: ledger,
          filters: [{ type: 'contract', contractIds, topics }],
        });
        return events.length;
      };
      const to = xdr.ScVal.scvAddress(xdr.ScAddress.scAddressTypeAccount(treasury.xdrAccountId())).toXDR('base64');
      assert.equal(await count([lab.usdcId], [[text('transfer'), '*', to, '*']]), 1);
      assert.equal(await count([lab.usdcId], [[text('transfer'), '*', to, '**']]), 1);
      assert.equal(await count([lab.usdcId], [[text('transfer'), '*', to]]), 0);
      assert.equal(
        await count(
          [lab.usdcId],
          [
            [text('mint'), '**'],
            [text('transfer'), '**'],
          ],
        ),
        1,
      );
      assert.equal(await count([lab.usdcId], [[text('mint'), '**']]), 0);
      assert.equal(await count([other], []), 0);
      assert.equal(await count([], [[text('fee'), '*']]), 1);
    });
  });

  it('lists transactions page by page', async () => {
    const { latestLedger } = await lab.server.getHealth();
    const made = [await pay(), await pay(), await pay()].map(({ txHash }) => txHash);
    const first = await lab.server.getTransactions({ startLedger: latestLedger + 1, pagination: { limit: 2 } });
    const second = await lab.server.getTransactions({ pagination: { cursor: first.cursor, limit: 2 } } as never);
    const third = await lab.server.getTransactions({ pagination: { cursor: second.cursor, limit: 2 } } as never);
    assert.deepEqual(
      [...first.transactions, ...second.transactions].map(({ txHash }) => txHash),
      made,
    );
    assert.equal(third.transactions.length, 0);
  });

  it('remembers as many ledgers as configured', async () => {
    const short = await stellarLab({ ledger_ms: 'manual', retention_ledgers: 50 });
    short.stellar.closeLedgers(200);
    const { oldestLedger, latestLedger } = await short.server.getHealth();
    assert.equal(oldestLedger, latestLedger - 49);
    await short.stop();
  });

  it('returns the changes of a call, and changes nothing', async () => {
    const before = await lab.balance(treasury.publicKey());
    const args = [addressArg(payer.publicKey()), addressArg(treasury.publicKey()), i128Arg(3n)];
    const transfer = Operation.invokeContractFunction({ contract: lab.usdcId, function: 'transfer', args });
    const simulated = await lab.server.simulateTransaction(await lab.build(payer.publicKey(), [transfer]));
    assert.ok(rpc.Api.isSimulationSuccess(simulated));
    const balanceOf = (entry: xdr.LedgerEntry | null) => BigInt(entry?.data().trustLine().balance().toString() ?? 0);
    const moved = simulated.stateChanges?.map(({ before, after }) => balanceOf(after) - balanceOf(before));
    assert.deepEqual(moved, [-3n, 3n]);
    assert.equal(await lab.balance(treasury.publicKey()), before);
  });
});
