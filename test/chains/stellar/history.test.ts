import assert from 'node:assert/strict';
import { Asset, Operation } from '@stellar/stellar-sdk';
import type { AccountTransaction, HistoryAsked } from '../../../commands/accountHistory.ts';
import { epochMs } from '../../../domain/time.ts';
import { createStellarHistory } from '../../../src/chains/stellar/history.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { usdc } from '../../support/stellar.ts';
import { startProxy } from '../proxy.ts';
import { orderTo, type PayingWorld, payingWorld, usdcToken } from './paying.ts';
import { muxedContract, signal } from './world.ts';

describe('the history of an account on Stellar', () => {
  let world: PayingWorld;
  let account: string;
  let history: ReturnType<typeof createStellarHistory>;
  before(async () => {
    world = await payingWorld({ channels: 1 });
    account = world.treasury.publicKey();
    const config = { ...world.config(), rangeLedgersMax: 3 };
    history = createStellarHistory(config, createStellarRpc(config));
  });
  after(() => world.lab.stop());

  async function all(asked: Omit<HistoryAsked, 'account' | 'after' | 'max'>, max = 100) {
    const found: AccountTransaction[] = [];
    for (let after: string | null = null, pages = 0; pages < 50; pages++) {
      const page = await history.transactions({ ...asked, account, max, after }, signal);
      found.push(...page.transactions);
      if (page.next === null) return found;
      after = page.next;
    }
    throw new Error('the history has no end');
  }

  it('has payments, fees that the treasury pays for channels, contract calls and failed transactions, and adds up', async () => {
    const { lab, payer, treasury } = world;
    const opening = await history.standing(account, signal);
    const receiver = (await lab.person(0n)).publicKey();
    const own = await world.attemptTo(orderTo(receiver, 7n));
    const channels = await world.attemptIn(world.channels[0], orderTo(receiver, 11n));
    for (const { bytes } of [own, channels]) await world.rail.broadcast(bytes);
    await world.send('1.5');
    await world.pay(3_0000000n, 'memo');
    const lumens = await lab.go(payer, [
      Operation.payment({ destination: account, asset: Asset.native(), amount: '2.5' }),
    ]);
    const tooMuch = Operation.payment({ destination: receiver, asset: usdc, amount: '900000000' });
    const failed = await lab.go(treasury, [tooMuch]);
    const closing = await history.standing(account, signal);

    const range = { from: opening.blockNumber + 1n, to: closing.blockNumber };
    const found = await all({ ...range, order: 'oldestFirst' });
    const sums: Record<string, bigint> = { ...opening.balances };
    for (const { fee, changes } of found) {
      sums['coin'] = (sums['coin'] ?? 0n) - fee;
      for (const { asset, amount } of changes) sums[asset] = (sums[asset] ?? 0n) + amount;
    }
    assert.deepEqual(sums, closing.balances);

    const of = (hash: string) => found.find(({ txHash }) => txHash === hash);
    const { address: asset } = usdcToken;
    assert.deepEqual(of(own.hash)?.changes, [{ asset, amount: -7n, counterparty: receiver }]);
    assert.deepEqual([of(own.hash)?.nonce, of(own.hash)?.outgoing], [BigInt(own.nonce ?? 0), true]);
    assert.deepEqual([of(channels.hash)?.nonce, of(channels.hash)?.outgoing], [null, true]);
    assert.ok((of(channels.hash)?.fee ?? 0n) > 0n);
    assert.deepEqual(of(lumens.txHash), {
      ...{ txHash: lumens.txHash, nonce: null, outgoing: false, succeeded: true, fee: 0n },
      changes: [{ asset: 'coin', amount: 2_5000000n, counterparty: payer.publicKey() }],
      blockNumber: BigInt(lumens.status === 'SUCCESS' ? lumens.ledger : 0),
      blockHash: `ledger ${lumens.status === 'SUCCESS' && lumens.ledger}`,
      time: of(lumens.txHash)?.time,
    });
    const reverted = of(failed.txHash);
    assert.deepEqual([reverted?.succeeded, reverted?.changes, reverted?.fee], [false, [], 100n]);
    assert.deepEqual(await all({ ...range, order: 'newestFirst' }, 1), found.toReversed());
  });

  it('begins where the node’s history does', async () => {
    const { blockNumber, time } = (await history.oldest?.(signal)) ?? assert.fail('it is known');
    const { blockNumber: to } = await history.standing(account, signal);
    assert.ok(blockNumber < to && epochMs(time) <= Date.now());
    await history.transactions({ account, from: blockNumber, to, order: 'newestFirst', max: 1, after: null }, signal);
  });

  it('continues behind envelopes with parts that the SDK does not know', async () => {
    const opening = await history.standing(account, signal);
    const receiver = (await world.lab.person(0n)).publicKey();
    const own = await world.attemptTo(orderTo(receiver, 7n));
    await world.rail.broadcast(own.bytes);
    const channel = await world.attemptIn(world.channels[0], orderTo(receiver, 11n));
    await world.rail.broadcast(channel.bytes);
    await world.send('1.5');
    const { blockNumber: to } = await history.standing(account, signal);
    const range = { from: opening.blockNumber + 1n, to, order: 'oldestFirst' } as const;
    const known = await all(range);

    const newer = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (method !== 'getTransaction' || answer['status'] !== 'SUCCESS') return answer;
      const bytes = Buffer.from(String(answer['envelopeXdr']), 'base64');
      return { ...answer, envelopeXdr: Buffer.concat([bytes.subarray(0, 100), muxedContract]).toString('base64') };
    });
    const config = { ...world.config([newer.url]), rangeLedgersMax: 3 };
    const { transactions } = await createStellarHistory(config, createStellarRpc(config)).transactions(
      { ...range, account, max: 100, after: null },
      signal,
    );
    assert.deepEqual(transactions, known);
  });

  it('waits, naming the transaction, if its movements cannot be decoded: nothing is omitted', async () => {
    const opening = await history.standing(account, signal);
    const hash = await world.send('1.5');
    const newer = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (method !== 'getTransaction' || answer['status'] !== 'SUCCESS') return answer;
      const told = answer['events'] as { contractEventsXdr: string[][] };
      const cut = told.contractEventsXdr.map((own) => own.map((event) => event.slice(0, -8)));
      return { ...answer, events: { ...told, contractEventsXdr: cut } };
    });
    const range = { from: opening.blockNumber + 1n, to: opening.blockNumber + 1n, order: 'oldestFirst' } as const;
    const asked = { ...range, account, max: 100, after: null };
    const through = (urls: readonly string[]) =>
      createStellarHistory(world.config(), createStellarRpc(world.config(urls)));
    await assert.rejects(through([newer.url]).transactions(asked, signal), {
      name: 'ChainUnavailable',
      message: new RegExp(hash),
    });
    const { transactions } = await through([newer.url, world.stellar.rpcUrl]).transactions(asked, signal);
    assert.deepEqual(
      transactions.map(({ txHash }) => txHash),
      [hash],
    );
  });
});
