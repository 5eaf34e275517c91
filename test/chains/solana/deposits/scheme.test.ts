import assert from 'node:assert/strict';
import { Unavailable } from '../../../../commands/ports.ts';
import { workSet } from '../../../../projections/sets.ts';
import type { DepositOwner } from '../../../../src/chains/family.ts';
import { createSolanaDeposits } from '../../../../src/chains/solana/deposits/scheme.ts';
import { ownerKey, ownerScheme } from '../../../../src/chains/solana/signer/keys.ts';
import { createDepositOwners, type DepositOwners } from '../../../../src/postgres/depositOwners.ts';
import { randomIds, systemClock } from '../../../../src/process/system.ts';
import { depositNeeds, depositOwnersWorker } from '../../../../src/workers/payins/depositNeeds.ts';
import { append, createWorld } from '../../../support/histories.ts';
import * as p from '../../../support/payments.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { fill, wholeLog } from '../../../support/readModels.ts';
import { depositSeed, signal, usdcToken } from '../world.ts';

const make = () => {
  const salt = randomIds.secret();
  return { address: ownerKey(depositSeed, salt).address, scheme: ownerScheme, salt };
};

describe('deposits on Solana', () => {
  let owners: DepositOwners;
  before(async () => {
    owners = createDepositOwners(await freshDatabase());
  });

  it('are made in advance, up to a limit, whenever the stock is half used up', async () => {
    const worker = depositOwnersWorker({
      owners,
      clock: systemClock,
      make: async (count) => Array.from({ length: count }, make),
    });
    const now = '2026-01-01T00:00:00.000Z' as never;
    assert.deepEqual(await worker.due(1, now), ['stock']);
    await worker.act('stock', signal);
    const full = await owners.count();
    assert.equal(full, 1_000);
    assert.deepEqual(await worker.due(1, now), []);
    await owners.take(full / 2 + 1);
    assert.deepEqual(await worker.due(1, now), ['stock']);
    await worker.act('stock', signal);
    assert.ok((await owners.count()) <= full);
  });

  it('are each assigned once, to any caller, with the salt of their key', async () => {
    const schemes = [1, 2, 3].map(() => createSolanaDeposits(owners.take));
    const assigned = await Promise.all(
      Array.from({ length: 300 }, (_, at) => schemes[at % 3]!.assign(`payment ${at}`, usdcToken, null)),
    );
    assert.equal(new Set(assigned.map(({ address }) => address)).size, 300);
    for (const { address, salt, scheme, memo, contract } of assigned.slice(0, 5)) {
      assert.equal(ownerKey(depositSeed, salt).address, address);
      assert.deepEqual([scheme, memo, contract], [ownerScheme, null, null]);
    }
  });

  it('are skipped if a restored backup has them in stock again, though payments have them', async () => {
    const database = await freshDatabase();
    const stock = createDepositOwners(database);
    const [given, fresh] = [make(), make()];
    await stock.add([given, fresh]);
    const world = createWorld();
    const created = p.created({ from: p.asset(501) });
    assert.ok(created.type === 'PaymentCreated');
    const deposit = { ...created.data.deposit, address: given.address };
    const data = { ...created.data, deposit };
    await append(world, `payment-${data.paymentId}`, [{ ...created, data }]);
    let waits = 0;
    const { takeOwners } = depositNeeds(() => ({
      ...{ clock: world.clock, database, reads: database },
      async caughtUp() {
        waits += 1;
        const log = await wholeLog(world.store);
        await fill(database, world.store, workSet, [log]);
        return world.store.tail();
      },
    }));
    assert.deepEqual(await takeOwners(10), [fresh]);
    assert.equal(waits, 1);
    assert.equal(await stock.count(), 0);
  });

  it('are refused for a moment when none is ready, and available again later', async () => {
    const stock: DepositOwner[] = [];
    const scheme = createSolanaDeposits(async (max) => stock.splice(0, max));
    const asking = () => scheme.assign('payment', usdcToken, null);
    await assert.rejects(asking(), (error) => error instanceof Unavailable && error.retryAfter_s > 0);
    stock.push(make());
    const [first, ...others] = await Promise.allSettled([asking(), asking(), asking()]);
    assert.equal(first?.status, 'fulfilled');
    assert.ok(others.every(({ status }) => status === 'rejected'));
  });

  it('are derived from the payment for requests of terms, each payment’s own, without an address of the stock', async () => {
    const none = async () => assert.fail('nothing is taken from the stock');
    const ownerOf = async (salt: string) => ({ address: `of ${salt}`, scheme: 'solana-owner-1', salt });
    const { derive } = createSolanaDeposits(none, ownerOf);
    const [first, again, other] = await Promise.all(['one', 'one', 'two'].map((id) => derive?.(id)));
    assert.deepEqual(again, first);
    assert.match(first?.salt ?? '', /^[0-9a-f]{64}$/);
    assert.equal(first?.address, `of ${first?.salt}`);
    assert.notEqual(other?.salt, first?.salt);
    assert.equal(createSolanaDeposits(none).derive, undefined);
  });

  it('offer no intents', () => assert.deepEqual(createSolanaDeposits(async () => []).intents, []));
});
