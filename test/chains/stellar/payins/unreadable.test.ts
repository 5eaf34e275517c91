import assert from 'node:assert/strict';
import { Memo, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import { evidenceMax, transferOf } from '../../../../commands/chainPorts.ts';
import { usdc } from '../../../support/stellar.ts';
import { type Behaviour, honest, startProxy } from '../../proxy.ts';
import { briefly, muxedContract, type StellarWorld, scanned, signal, stellarWorld, watching } from '../world.ts';

/** A value of a kind that no version of the SDK supports. */
const unknownValue = 'AAAAZQ==';

type Shown = Record<string, unknown>;

/** Returns the events of one transaction with a value of a newer protocol. */
const newerIn =
  (hash: string): Behaviour =>
  async (method, params, forward) => {
    const answer = (await forward(method, params)) as Shown;
    if (method === 'getEvents') {
      const events = (answer['events'] as Shown[]).map((event) =>
        event['txHash'] === hash ? { ...event, value: unknownValue } : event,
      );
      return { ...answer, events };
    }
    if (method !== 'getTransaction' || answer['txHash'] !== hash) return answer;
    return { ...answer, events: { contractEventsXdr: withNewerEnd(answer) } };
  };

/** Returns the same events with the last value replaced by an unknown one. */
const withNewerEnd = (transaction: Shown): readonly string[][] =>
  (transaction['events'] as { contractEventsXdr: string[][] }).contractEventsXdr.map((own) =>
    own.map((event) => {
      const bytes = Buffer.from(event, 'base64');
      return Buffer.concat([bytes.subarray(0, -24), Buffer.from(unknownValue, 'base64')]).toString('base64');
    }),
  );

describe('an undecodable event on Stellar', () => {
  let world: StellarWorld;
  let treasury: string;
  before(async () => {
    world = await stellarWorld();
    treasury = world.treasury.publicKey();
  });
  after(() => world.lab.stop());

  it('is set aside with its evidence; the cursor continues, and so do the others', async () => {
    const from = world.here();
    await world.send('1', Memo.text('before'));
    const odd = await world.send('2', Memo.text('odd'));
    await world.send('3', Memo.text('after'));
    const proxy = await startProxy(world.stellar.rpcUrl, newerIn(odd));
    const { logs, ranges, cursor } = await scanned(world.config([proxy.url]), from);
    assert.deepEqual(
      logs.map(({ memo }) => memo),
      ['before', 'after'],
    );
    assert.equal(cursor.blockNumber, world.here().blockNumber);
    const [unreadable, ...more] = ranges.flatMap((range) => range.unreadable ?? []);
    assert.ok(unreadable && more.length === 0);
    const { evidence, ...what } = unreadable;
    assert.deepEqual(what, {
      txHash: odd,
      blockNumber: from.blockNumber + 2n,
      addresses: [treasury, world.payinContract],
    });
    assert.match(evidence, /unknown ScValType.*AAAAZQ==/);
    assert.ok(evidence.length <= evidenceMax);
  });

  it('blocks the rest of its operation: no payin counts without the memo that may be in it', async () => {
    const from = world.here();
    const odd = await world.pay(5n, 'which one');
    const proxy = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as Shown;
      if (method !== 'getEvents') return answer;
      const events = (answer['events'] as Shown[]).map((event) =>
        event['contractId'] === world.payinContract ? { ...event, value: unknownValue } : event,
      );
      return { ...answer, events };
    });
    const { logs, ranges } = await scanned(world.config([proxy.url]), from);
    assert.deepEqual(logs, []);
    assert.deepEqual(
      ranges.flatMap((range) => range.unreadable ?? []).map(({ txHash }) => txHash),
      [odd],
    );
    assert.equal((await scanned(world.config(), from)).logs[0]?.memo, 'which one');
  });

  it('is looked up in vain, as a failure of the nodes, until a node or the SDK can read it', async () => {
    const from = world.here();
    const odd = await world.send('2', Memo.text('later'));
    const proxy = await startProxy(world.stellar.rpcUrl, newerIn(odd));
    const { ingester } = watching(world.config([proxy.url]));
    await assert.rejects(ingester.lookUp(odd, signal), { name: 'ChainUnavailable', message: new RegExp(odd) });
    const lagging = await startProxy(world.stellar.rpcUrl, (method, params, forward) =>
      forward(method, method === 'getTransaction' ? ({ hash: '1'.repeat(64) } as never) : params),
    );
    const both = watching(world.config([proxy.url, lagging.url])).ingester;
    await assert.rejects(both.lookUp(odd, signal), { name: 'ChainUnavailable' });
    const [log] = (await scanned(world.config(), from)).logs;
    assert.ok(log);
    const agreed = await ingester.agreed(transferOf(1500, log), { pass: 'final', usd: 2n }, signal);
    assert.deepEqual([agreed.agreed, agreed.dispute?.reason], [false, 'nodesTooFew']);
    proxy.behave(honest);
    assert.deepEqual(briefly((await ingester.lookUp(odd, signal)).map((each) => ({ ...each, amount: 0n }) as never)), [
      { to: treasury, memo: 'later', amount: 0n },
    ]);
  });

  it('is ignored in the events of other contracts, and in an envelope', async () => {
    const from = world.here();
    const payment = Operation.payment({ destination: treasury, asset: usdc, amount: '1' });
    const inner = await world.lab.build(world.payer.publicKey(), [payment], Memo.text('bumped'));
    inner.sign(world.payer);
    const bump = TransactionBuilder.buildFeeBumpTransaction(world.payer, '5000', inner, world.lab.passphrase);
    bump.sign(world.payer);
    await world.lab.send(bump);
    const hash = bump.hash().toString('hex');
    const proxy = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as Shown;
      if (method !== 'getTransaction' || answer['status'] !== 'SUCCESS') return answer;
      const { contractEventsXdr } = answer['events'] as { contractEventsXdr: string[][] };
      const [event = ''] = contractEventsXdr.flat();
      const stranger = Buffer.from(event, 'base64');
      stranger.fill(7, 8, 40);
      const foreign = Buffer.concat([stranger.subarray(0, 48), Buffer.from([0, 0, 0, 0, 0, 0, 0, 0]), muxedContract]);
      const operations = contractEventsXdr.map((own) => [foreign.toString('base64'), ...own]);
      return { ...answer, envelopeXdr: muxedContract.toString('base64'), events: { contractEventsXdr: operations } };
    });
    const { logs, ingester } = await scanned(world.config([proxy.url]), from);
    const [log] = logs;
    assert.ok(log);
    assert.deepEqual(await ingester.lookUp(hash, signal), [transferOf(1500, log)]);
    assert.deepEqual(await ingester.agreed(transferOf(1500, log), { pass: 'final', usd: 1n }, signal), {
      agreed: true,
    });
  });
});
