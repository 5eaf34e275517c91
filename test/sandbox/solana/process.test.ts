import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection, Keypair } from 'solana-web3-v1';
import { bornAt } from '../../../sandbox/children.ts';
import { advanceSlots, forkTo } from '../../../sandbox/solana/controls.ts';
import { type StartedSolana, solanaAnswers, startSolana } from '../../../sandbox/solana/start.ts';
import { type SolanaClient, solanaClient, solanaLab, tokenAccount } from '../../support/solana.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

describe('local Solana on disk', () => {
  let stateFile: string;
  beforeEach(() => {
    stateFile = join(temporaryDirectory(), 'state.jsonl');
  });

  /** Everything that a caller can read about a payment. */
  async function everything({ connection }: SolanaClient, owner: Keypair, signature: string) {
    const account = await tokenAccount(owner.publicKey);
    const transaction = await connection.getTransaction(signature, options);
    assert.ok(transaction);
    const history = await connection.getSignaturesForAddress(account, {}, 'confirmed');
    return {
      genesis: await connection.getGenesisHash(),
      balance: (await connection.getTokenAccountBalance(account)).value.amount,
      lamports: await connection.getBalance(owner.publicKey),
      transaction: JSON.stringify(transaction),
      history: history.map((each) => each.signature),
      blockTime: await connection.getBlockTime(transaction.slot),
      block: await connection.getBlockSignatures(transaction.slot, 'confirmed'),
    };
  }

  it('continues after a stop: transactions, balances, blocks, blockhashes', async () => {
    const first = await solanaLab({ stateFile });
    const [payer, to] = [await first.person(), Keypair.generate()];
    const waiting = await first.signed(payer, await first.payment({ from: payer, to: to.publicKey, amount: 7n }));
    const signature = await first.pay({ from: payer, to: to.publicKey, amount: 5n });
    first.solana.advanceSlots(2);
    const before = await everything(first, to, signature);
    const slot = await first.connection.getSlot('processed');
    await first.stop();

    const second = await solanaLab({ stateFile });
    assert.ok((await second.connection.getSlot('processed')) > slot);
    assert.deepEqual(await everything(second, to, signature), before);
    await second.send(waiting);
    assert.equal(await second.balance(to.publicKey), 12n);
    await assert.rejects(second.send(waiting), /already been processed/);
    await second.stop();
  });

  it('has forgotten after a start everything that a fork removed, and knows the other blocks', async () => {
    const first = await solanaLab({ stateFile });
    const [payer, to] = [await first.person(), Keypair.generate().publicKey];
    first.solana.advanceSlots(5);
    const slot = await first.connection.getSlot('processed');
    first.solana.advanceSlots();
    const signature = await first.pay({ from: payer, to, amount: 5n });
    await forkTo(first.solana.rpcUrl, slot);
    first.solana.advanceSlots(2);
    const { blockhash } = await first.connection.getBlockSignatures(slot + 1, 'confirmed');
    await first.stop();

    for (const start of ['from lines', 'from what they were folded into']) {
      const again = await solanaLab({ stateFile });
      const { value } = await again.connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
      assert.equal(value[0], null, start);
      assert.equal(await again.balance(payer.publicKey), 500_000000n);
      assert.equal((await again.connection.getBlockSignatures(slot + 1, 'confirmed')).blockhash, blockhash);
      await again.stop();
    }
  });

  it('never returns to a slot that a caller has seen, though empty ones are not written', async () => {
    const first = await solanaLab({ stateFile });
    first.solana.advanceSlots(1_000);
    const size = statSync(stateFile).size;
    for (let count = 0; count < 320; count++) first.solana.advanceSlots();
    assert.ok(statSync(stateFile).size - size < 2_000);
    const slot = await first.connection.getSlot('processed');
    await first.stop();
    const second = await solanaLab({ stateFile });
    const after = await second.connection.getSlot('processed');
    assert.ok(after > slot && after <= slot + 34, `${slot} → ${after}`);
    await second.stop();
  });

  it('loses only the half-written end of a kill', async () => {
    const first = await solanaLab({ stateFile });
    const payer = await first.person(3n);
    await first.stop();
    appendFileSync(stateFile, '{"slot":1009,"time_s":17');
    const second = await solanaLab({ stateFile });
    assert.equal(await second.balance(payer.publicKey), 3n);
    await second.stop();
    assert.doesNotMatch(readFileSync(stateFile, 'utf8'), /"time_s":17$/);
  });

  it('keeps its file as small as its history', async () => {
    const few = { stateFile, transactionsMax: 2 };
    const first = await solanaLab(few);
    const [payer, to] = [await first.person(), Keypair.generate().publicKey];
    for (let amount = 1n; amount <= 20n; amount++) await first.pay({ from: payer, to, amount });
    await first.stop();
    const size = statSync(stateFile).size;
    const second = await solanaLab(few);
    assert.ok(statSync(stateFile).size < size / 3);
    assert.equal(await second.balance(to), 210n);
    await second.stop();
  });

  it('accepts no other file as its own', async () => {
    for (const text of ['', '{}\n', '{"version":1}\n', 'something else']) {
      writeFileSync(stateFile, text);
      await assert.rejects(solanaLab({ stateFile }), /is not the state of a local Solana/);
      assert.equal(readFileSync(stateFile, 'utf8'), text);
    }
  });

  describe('in a separate process', () => {
    const running: StartedSolana[] = [];
    afterEach(() => Promise.all(running.splice(0).map((each) => each.stop())));
    async function start(more: Partial<Parameters<typeof startSolana>[0]> = {}): Promise<StartedSolana> {
      const started = await startSolana({ slot_ms: 'manual', stateFile, ...more });
      running.push(started);
      return started;
    }
    async function kill({ pid, rpcUrl }: StartedSolana): Promise<void> {
      process.kill(pid, 'SIGKILL');
      while (bornAt(pid) !== undefined) await new Promise(setImmediate);
      assert.equal(await solanaAnswers(rpcUrl), false);
    }

    it('has the same chain after kill -9, repeatedly', async () => {
      let payer: Keypair | undefined;
      const to = Keypair.generate();
      let known: Awaited<ReturnType<typeof everything>> | undefined;
      let signature = '';
      for (const round of [1n, 2n, 3n]) {
        const node = await start();
        const client = solanaClient(node.rpcUrl);
        if (known) assert.deepEqual(await everything(client, to, signature), known);
        payer ??= await client.person();
        signature = await client.pay({ from: payer, to: to.publicKey, amount: round });
        await advanceSlots(node.rpcUrl, 2);
        known = await everything(client, to, signature);
        await kill(node);
      }
      assert.equal(known?.balance, '6');
    });

    it('has everything that it has acknowledged, when it is killed in the middle of its work', async () => {
      const node = await start();
      const client = solanaClient(node.rpcUrl);
      const [payer, to] = [await client.person(), Keypair.generate().publicKey];
      const answered: string[] = [];
      const working = (async () => {
        for (let amount = 1n; ; amount++) {
          answered.push(await client.pay({ from: payer, to, amount }));
          if (answered.length === 10) process.kill(node.pid, 'SIGKILL');
        }
      })();
      await assert.rejects(working);
      const again = solanaClient((await start()).rpcUrl);
      const { value } = await again.connection.getSignatureStatuses(answered, { searchTransactionHistory: true });
      assert.ok(answered.length >= 10);
      assert.ok(value.every((status) => status !== null));
      const amounts = BigInt((answered.length * (answered.length + 1)) / 2);
      const unanswered = BigInt(answered.length + 1);
      const balance = await again.balance(to);
      assert.ok(
        balance === amounts || balance === amounts + unanswered,
        `${balance} after ${answered.length} payments`,
      );
      assert.equal(balance + (await again.balance(payer.publicKey)), 500_000000n);
    });

    it('continues alone at its pace, with the configured depths', async () => {
      const { rpcUrl } = await start({ slot_ms: 5, confirmed_slots: 3, finalized_slots: 7 });
      const connection = new Connection(rpcUrl);
      const first = await connection.getSlot('processed');
      while ((await connection.getSlot('processed')) < first + 5);
      // One batch, whose answers are all of the same moment.
      const depths = ['processed', 'confirmed', 'finalized'];
      const calls = depths.map((commitment, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'getSlot',
        params: [{ commitment }],
      }));
      const { body } = await solanaClient(rpcUrl).post(calls);
      const [processed = 0, confirmed, finalized] = (body as { result: number }[]).map(({ result }) => result);
      assert.deepEqual([confirmed, finalized], [processed - 3, processed - 7]);
    });

    it('states where to look when it cannot start', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as { port: number };
      const logFile = `${stateFile}.log`;
      await assert.rejects(start({ port, logFile }), new RegExp(`did not start on port ${port}: see ${logFile}`));
      assert.match(readFileSync(logFile, 'utf8'), /EADDRINUSE/);
      taken.close();
    });

    it('refuses an invalid pace and invalid depths', async () => {
      const program = join(import.meta.dirname, '../../../sandbox/solana/main.ts');
      for (const args of [
        ['--slot-ms', '0'],
        ['--slot-ms', 'fast'],
        ['--confirmed-slots', 'one'],
        ['--finalized-slots', '1.5'],
      ]) {
        await assert.rejects(
          promisify(execFile)(process.execPath, [program, ...args]),
          new RegExp(`${args.join(' ')}: say`),
        );
      }
    });
  });
});
