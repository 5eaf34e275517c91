import assert from 'node:assert/strict';
import { Crashed, crashAt } from '../../support/processes.ts';
import { all, amountsOf, leftOf, nameOf, sweptWorld, usd, usdc, usdt } from './world.ts';

describe('a sweep of a chain', () => {
  it('sweeps the balances of deposits, the largest first, in transactions of one token', async () => {
    const world = sweptWorld();
    world.given(usdc, 1, 9, 3, 7, 5);
    world.given(usdt, 4);
    const news = await world.swept();
    assert.deepEqual(amountsOf(await world.operations()), [usd(21), usd(4), usd(4)]);
    assert.deepEqual(
      news.flatMap((each) => (each.kind === 'ended' ? [each.id] : [])),
      [nameOf(1, 1), nameOf(1, 2), nameOf(2, 1)],
    );
    const [first] = await world.operations();
    assert.deepEqual(first?.ordered.form, {
      kind: 'flush',
      deposits: ['b', 'd', 'e'].map((address) => ({ address, salt: `salt of ${address}` })),
    });
    assert.deepEqual([first?.ordered.receiver, first?.ordered.by], [first?.ordered.account, 'ada']);
  });

  it('does nothing the second time, and sweeps new money the third', async () => {
    const world = sweptWorld();
    world.given(usdc, 5, 6);
    await world.swept();
    assert.deepEqual(await world.swept(), [{ kind: 'looked', deposits: 2 }]);
    world.given(usdc, 8);
    await world.swept();
    assert.deepEqual(amountsOf(await world.operations()), [usd(11), usd(8)]);
  });

  it('has a few transactions in flight at a time, and continues when they are over', async () => {
    const world = sweptWorld({ depositsMax: 1, partsMax: 2 });
    world.given(usdc, 1, 2, 3, 4, 5);
    const kinds = (await world.swept()).map(({ kind }) => kind).filter((kind) => kind !== 'looked');
    const two = ['ordered', 'ordered', 'ended', 'ended'];
    assert.deepEqual(kinds, [...two, ...two, 'ordered', 'ended']);
  });

  describe('sweeps only profitable deposits:', () => {
    it('a deposit that holds less than its share of the cost is left, and the others are planned without it', async () => {
      const world = sweptWorld();
      world.given(usdc, 5, 0.4, 6);
      assert.deepEqual(leftOf(await world.swept()), [['b', 'holds less than taking it costs']]);
      assert.deepEqual(amountsOf(await world.operations()), [usd(11)]);
    });

    it('unless overridden', async () => {
      const world = sweptWorld();
      world.given(usdc, 5, 0.4, 6);
      await world.swept(world.depsOf(), { ...all, evenAtALoss: true });
      assert.deepEqual(amountsOf(await world.operations()), [usd(11.4)]);
    });

    it('everything that returns more than it costs', async () => {
      const world = sweptWorld();
      world.cost.perDeposit = -usd(1);
      world.given(usdc, 0.01);
      await world.swept();
      assert.deepEqual(amountsOf(await world.operations()), [usd(0.01)]);
    });

    it('and nothing below the operator’s minimum', async () => {
      const world = sweptWorld();
      world.given(usdc, 5, 4, 6);
      const news = await world.swept(world.depsOf(), { ...all, least_microUsd: usd(5) });
      assert.deepEqual(leftOf(news), [['b', 'holds less than the least that is swept']]);
      assert.deepEqual(amountsOf(await world.operations()), [usd(11)]);
    });
  });

  it('has the history of deposits read that hold unrecorded money', async () => {
    const world = sweptWorld();
    world.given(usdc, 5, 4, 6);
    for (const address of ['a', 'c']) world.refused.add(address);
    world.unrecorded.add('c');
    await world.swept();
    assert.deepEqual(world.read, ['c']);
  });

  it('leaves deposits that its token refuses, and sweeps the others', async () => {
    const world = sweptWorld();
    world.given(usdc, 5, 4, 6);
    world.refused.add('c');
    assert.deepEqual(leftOf(await world.swept()), [['c', 'refused']]);
    assert.deepEqual(amountsOf(await world.operations()), [usd(9)]);
  });

  it('orders once, though two processes sweep at the same moment', async () => {
    const world = sweptWorld();
    world.given(usdc, 5, 4, 6);
    const both = await Promise.all([world.swept(world.depsOf()), world.swept(world.depsOf())]);
    assert.equal(both.flat().filter(({ kind }) => kind === 'ordered').length, 1);
    assert.deepEqual(amountsOf(await world.operations()), [usd(15)]);
  });

  it('waits for the work that another process has begun, before it plans anything', async () => {
    const world = sweptWorld();
    world.given(usdc, 5, 4, 6);
    world.engine.is = 'is away';
    const begun = world.swept(world.depsOf(crashAt('sweep.ordered')));
    await assert.rejects(begun, Crashed);
    world.engine.is = 'does it';
    const news = await world.swept();
    assert.deepEqual(
      news.map(({ kind }) => kind),
      ['ended', 'looked'],
    );
    assert.deepEqual(amountsOf(await world.operations()), [usd(15)]);
  });

  it('finds the missing orders when it was killed between two', async () => {
    const world = sweptWorld({ depositsMax: 1 });
    world.given(usdc, 5, 4, 6);
    await assert.rejects(world.swept(world.depsOf(crashAt('sweep.ordered'))), Crashed);
    await world.swept();
    assert.deepEqual(amountsOf(await world.operations()), [usd(6), usd(5), usd(4)]);
  });

  it('calls off a run that died on its chain, and sweeps its deposits the next time', async () => {
    const world = sweptWorld();
    world.given(usdc, 5);
    world.engine.is = 'sees it die';
    await world.swept();
    world.engine.is = 'does it';
    await world.swept();
    const [first, second] = await world.operations();
    assert.match(first?.calledOff?.reason ?? '', /can never land/);
    assert.deepEqual([first?.leg.settled, second?.calledOff], [null, null]);
    assert.ok(second?.leg.settled);
  });

  it('calls off a run that cannot be signed for ten minutes', async () => {
    const world = sweptWorld();
    world.given(usdc, 5);
    world.engine.is = 'cannot sign';
    await world.swept();
    const [only, ...others] = await world.operations();
    assert.match(only?.calledOff?.reason ?? '', /ten minutes/);
    assert.deepEqual(others, []);
  });

  it('finds the newest of many runs', async () => {
    const world = sweptWorld();
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
      world.balances.set('a', new Map([[usdc, usd(n)]]));
      await world.swept();
    }
    assert.deepEqual(amountsOf(await world.operations()), [1, 2, 3, 4, 5, 6, 7].map(usd));
  });
});
