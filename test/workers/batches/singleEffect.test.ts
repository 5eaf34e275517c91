import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type BatchWorld, batchWorld } from './world.ts';

const count = 4;

type Move =
  | { readonly do: 'open'; readonly which: readonly number[] }
  | { readonly do: 'crash'; readonly in: number }
  | { readonly do: 'actOn'; readonly n: number }
  | { readonly do: 'hold' | 'letGo' | 'refuse'; readonly n: number }
  | { readonly do: 'actAll' | 'audit' | 'tend' | 'mine' | 'revert' | 'reorg' | 'restart' | 'wait' | 'accept' };

const payments = fc.integer({ min: 1, max: count });
const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('open' as const), which: fc.uniqueArray(payments, { minLength: 2 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('crash' as const), in: fc.integer({ min: 0, max: 24 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('actOn' as const), n: fc.integer({ min: 0, max: count + 1 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'letGo' as const, 'refuse' as const), n: payments }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'actAll',
        'actAll',
        'actAll',
        'audit',
        'tend',
        'mine',
        'mine',
        'revert',
        'reorg',
        'restart',
        'wait',
        'accept',
      ),
    }) as fc.Arbitrary<Move>,
  },
);

async function make(world: BatchWorld, move: Move): Promise<void> {
  const { chain, around } = world;
  switch (move.do) {
    case 'open':
      return world.open(move.which);
    case 'crash':
      around.crashIn = move.in;
      return;
    case 'actOn': {
      const [batch] = await world.batchIds();
      if (move.n === 0 && batch) return world.act({ kind: 'batch', id: batch, part: 1 });
      if (move.n > 0 && move.n <= count)
        return world.act({ kind: 'payout', id: (await world.payment(move.n)).terms.paymentId, part: 1 });
      return;
    }
    case 'hold':
      return void (await world.hold(move.n));
    case 'letGo':
      return void (await world.letGo(move.n));
    case 'refuse':
      around.refuses = move.n;
      return;
    case 'accept':
      around.refuses = null;
      return;
    case 'actAll':
      return world.actAll();
    case 'audit':
      return world.audit();
    case 'tend':
      return world.tend();
    case 'mine':
      return void chain.mine(true);
    case 'revert':
      return void chain.mine(false);
    case 'reorg':
      return chain.unmine();
    case 'restart':
      return world.restart();
    case 'wait':
      return world.pass(100_000);
  }
}

/** Checks that no receiver was ever paid twice on the current chain, and that none has two attempts that could both land. */
async function check(world: BatchWorld): Promise<void> {
  for (const n of world.numbers) {
    assert.ok(world.paid(n) <= 1, `payment ${n} was paid once at most`);
    const { payout } = await world.payment(n);
    const landing = (payout?.attempts ?? []).filter(({ fate }) => fate === 'live' || fate === 'settled');
    assert.ok(new Set(landing.map(({ signed }) => signed.nonce)).size <= 1, `payment ${n} has one nonce that can land`);
  }
}

/** From now on nothing fails: started work ends. */
async function finish(world: BatchWorld): Promise<void> {
  world.around.crashIn = null;
  world.around.refuses = null;
  for (let round = 0; round < 40; round += 1) {
    // A block that leaves its chain may be noticed only after a payment is held, or after its batch has failed: then the audit finds it.
    for (const n of world.numbers) await world.letGo(n);
    await world.actAll();
    const told = await Promise.all(world.numbers.map((n) => world.payment(n)));
    if (round > 0 && told.every(({ payout }) => payout?.settled)) return;
    await world.tend();
    while (world.chain.mine(true));
    world.pass(3_700_000);
    await world.audit();
  }
}

describe('payouts in batches', () => {
  it('are made once each, for any death, revert, replacement or reorganisation', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { minLength: 4, maxLength: 40 }), async (way) => {
        const world = await batchWorld(count);
        for (const move of way) {
          await make(world, move);
          await check(world);
        }
        await finish(world);
        await check(world);
        for (const n of world.numbers) {
          assert.equal(world.paid(n), 1, `payment ${n} was paid`);
          const { payout } = await world.payment(n);
          const landed = world.chain.mined.find(({ sending }) => sending.hash === payout?.settled?.hash);
          assert.ok(landed?.succeeded, `payment ${n} is settled by what landed`);
        }
      }),
      { numRuns: 60 },
    );
  });
});
