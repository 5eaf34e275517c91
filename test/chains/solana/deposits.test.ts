import assert from 'node:assert/strict';
import { Unavailable } from '../../../commands/ports.ts';
import { createSolanaDeposits, type Owner } from '../../../src/chains/solana/deposits.ts';
import { createDepositOwners, type DepositOwners } from '../../../src/postgres/depositOwners.ts';
import { randomIds } from '../../../src/runtime/ids.ts';
import { ownerKey, ownerScheme } from '../../../src/security/solanaKeys.ts';
import { depositOwnersWorker } from '../../../src/subscribers/depositOwners.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { depositSeed, signal, usdcToken } from './world.ts';

const make = () => {
  const salt = randomIds.secret();
  return { address: ownerKey(depositSeed, salt).address, scheme: ownerScheme, salt };
};

describe('deposits on Solana', () => {
  let owners: DepositOwners;
  before(async () => {
    owners = createDepositOwners(await freshDatabase());
  });

  it('are made beforehand, up to a limit, whenever the stock is half used up', async () => {
    const worker = depositOwnersWorker({ owners, make });
    const now = '2026-01-01T00:00:00.000Z' as never;
    assert.deepEqual(await worker.due(1, now), ['stock']);
    await worker.act('stock', signal);
    const full = await owners.count();
    assert.equal(full, 2_000);
    assert.deepEqual(await worker.due(1, now), []);
    await owners.take(full / 2 + 1);
    assert.deepEqual(await worker.due(1, now), ['stock']);
    await worker.act('stock', signal);
    assert.ok((await owners.count()) <= full);
  });

  it('are each given out once, whoever takes them, with the salt that their key follows from', async () => {
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

  it('are refused for a moment when none is ready, and there again when some are', async () => {
    const stock: Owner[] = [];
    const scheme = createSolanaDeposits(async (max) => stock.splice(0, max));
    const asking = () => scheme.assign('payment', usdcToken, null);
    await assert.rejects(asking(), (error) => error instanceof Unavailable && error.retryAfter_s > 0);
    stock.push(make());
    const [first, ...others] = await Promise.allSettled([asking(), asking(), asking()]);
    assert.equal(first?.status, 'fulfilled');
    assert.ok(others.every(({ status }) => status === 'rejected'));
  });

  it('offer no intents', () => assert.deepEqual(createSolanaDeposits(async () => []).intents, []));
});
