import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Keypair, Networks, Operation, rpc } from '@stellar/stellar-sdk';
import { closeLedgers, fundAccount, plantUsdc } from '../../../sandbox/stellar/controls.ts';
import { type StartedStellar, startStellar, stellarAnswers } from '../../../sandbox/stellar/start.ts';
import { onStop } from '../../support/hooks.ts';
import { payCall, type StellarLab, stellarLab, usdc } from '../../support/stellar.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

describe('local Stellar on disk', () => {
  let stateFile: string;
  let directory: string;
  beforeEach(() => {
    directory = temporaryDirectory();
    stateFile = join(directory, 'state.jsonl');
  });

  it('continues after a stop: ledgers, transactions, events, balances, contracts', async () => {
    const first = await stellarLab({ stateFile });
    const [treasury, payer] = [await first.person(0n), await first.person()];
    const payin = await first.deployPayin(treasury, treasury.publicKey());
    await pay(first, payer, payin, 5n);
    const before = await everything(first, treasury, payin);
    const { latestLedger } = await first.server.getHealth();
    await first.stop();

    const second = await stellarLab({ stateFile });
    assert.deepEqual(await everything(second, treasury, payin), before);
    assert.ok((await second.server.getHealth()).latestLedger >= latestLedger);
    await pay(second, payer, payin, 7n);
    assert.equal(await second.balance(treasury.publicKey()), 12n);
    await second.stop();
  });

  it('never returns to a ledger that a caller has seen, though empty ones are not written', async () => {
    const first = await stellarLab({ stateFile, ledger_ms: 'manual' });
    first.stellar.closeLedgers(1_000);
    const { cursor, latestLedger } = await first.server.getEvents({ startLedger: 1_001, filters: [] });
    const written = readFileSync(stateFile).length;
    first.stellar.closeLedgers(200);
    const killed = readFileSync(stateFile);
    assert.ok(killed.length - written < 500);
    await first.stop();
    // The state after a kill.
    writeFileSync(stateFile, killed);

    const second = await stellarLab({ stateFile, ledger_ms: 'manual' });
    const again = await second.server.getEvents({ cursor, filters: [] });
    assert.ok(again.latestLedger >= latestLedger + 200);
    await second.stop();
  });

  it('continues with the next ledger after a stop', async () => {
    const first = await stellarLab({ stateFile, ledger_ms: 'manual' });
    first.stellar.closeLedgers(20);
    const { latestLedger } = await first.server.getHealth();
    await first.stop();
    const second = await stellarLab({ stateFile, ledger_ms: 'manual' });
    // USDC is created in a separate ledger.
    assert.equal((await second.server.getHealth()).latestLedger, latestLedger + 1);
    await second.stop();
  });

  it('loses only the ledger that a kill left half written', async () => {
    const first = await stellarLab({ stateFile });
    const payer = await first.person(3n);
    await first.stop();
    appendFileSync(stateFile, '{"ledger":2000,"closedAt_s":17');
    const second = await stellarLab({ stateFile });
    assert.equal(await second.balance(payer.publicKey()), 3n);
    await second.stop();
  });

  it('forgets on disk what is older than its retention', async () => {
    const first = await stellarLab({ stateFile, ledger_ms: 'manual' });
    const payer = await first.person();
    const got = await first.go(payer, [Operation.bumpSequence({ bumpTo: '0' })]);
    await first.stop();
    const second = await stellarLab({ stateFile, ledger_ms: 'manual', retention_ledgers: 600 });
    assert.equal((await second.server.getTransaction(got.txHash)).status, 'SUCCESS');
    second.stellar.closeLedgers(600);
    assert.equal((await second.server.getTransaction(got.txHash)).status, 'NOT_FOUND');
    await second.stop();
    assert.ok(readFileSync(stateFile, 'utf8').includes(got.txHash));
    await (await stellarLab({ stateFile, ledger_ms: 'manual', retention_ledgers: 600 })).stop();
    assert.ok(!readFileSync(stateFile, 'utf8').includes(got.txHash));
  });

  it('refuses the state of another network', async () => {
    await (await stellarLab({ stateFile })).stop();
    await assert.rejects(stellarLab({ stateFile, networkPassphrase: Networks.TESTNET }), /another network/);
  });

  describe('as its own process', () => {
    it('serves the production USDC, closes ledgers at its pace and continues after a kill', async () => {
      const first = await start({ ledger_ms: 50, stateFile });
      assert.equal(await plantUsdc(first.rpcUrl), usdcContract);
      await fundAccount(first.rpcUrl, account, { usdc: 12_5000000n });
      const server = new rpc.Server(first.rpcUrl, { allowHttp: true });
      const { sequence } = await server.getLatestLedger();
      while ((await server.getLatestLedger()).sequence < sequence + 2);
      process.kill(first.pid, 'SIGKILL');
      await first.stop();
      assert.equal(await stellarAnswers(first.rpcUrl), false);

      const second = await start({ ledger_ms: 'manual', stateFile });
      const again = new rpc.Server(second.rpcUrl, { allowHttp: true });
      const { balanceEntry } = await again.getAssetBalance(account, usdc, second.networkPassphrase);
      assert.equal(balanceEntry?.amount, '125000000');
      assert.ok((await again.getLatestLedger()).sequence >= sequence + 2);
      const latest = (await again.getLatestLedger()).sequence;
      assert.equal(await closeLedgers(second.rpcUrl, 3), latest + 3);
      assert.ok(await stellarAnswers(second.rpcUrl));
    });

    it('names its log when it cannot start', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      onStop(() => void taken.close());
      await once(taken, 'listening');
      const address = taken.address();
      assert.ok(typeof address === 'object' && address !== null);
      const logFile = join(directory, 'stellar.log');
      await assert.rejects(start({ ledger_ms: 'manual', port: address.port, logFile }), /stellar\.log/);
      assert.match(readFileSync(logFile, 'utf8'), /EADDRINUSE/);
      await assert.rejects(start({ ledger_ms: Number.NaN, logFile }), /stellar\.log/);
      assert.match(readFileSync(logFile, 'utf8'), /milliseconds above 0/);
    });
  });

  const account = 'GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7';
  const usdcContract = 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75';

  async function start(options: Parameters<typeof startStellar>[0]): Promise<StartedStellar> {
    const started = await startStellar(options);
    onStop(() => started.stop());
    return started;
  }

  async function pay(lab: StellarLab, payer: Keypair, contract: string, amount: bigint) {
    const transaction = await lab.prepare(payer.publicKey(), payCall(contract, payer.publicKey(), amount, 'memo'));
    transaction.sign(payer);
    assert.equal((await lab.send(transaction)).status, 'SUCCESS');
  }

  async function everything(lab: StellarLab, treasury: Keypair, contract: string) {
    const { oldestLedger } = await lab.server.getHealth();
    const { events } = await lab.server.getEvents({ startLedger: oldestLedger, filters: [] });
    const { transactions } = await lab.server.getTransactions({ startLedger: oldestLedger });
    return {
      oldestLedger,
      events: events.map(({ id, txHash, value }) => [id, txHash, value.toXDR('base64')]),
      transactions: transactions.map((t) => [t.txHash, t.ledger, t.createdAt, t.resultMetaXdr.toXDR('base64')]),
      balance: await lab.balance(treasury.publicKey()),
      code: (await lab.server.getContractWasmByContractId(contract)).length,
      usdc: usdc.contractId(lab.passphrase),
    };
  }
});
