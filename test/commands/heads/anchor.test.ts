import assert from 'node:assert/strict';
import { eventCodec } from '../../../commands/codec.ts';
import { currentState } from '../../../commands/handle.ts';
import { type AnchorDeps, createAnchoring } from '../../../commands/heads/anchor.ts';
import { hashOfHead } from '../../../commands/heads/chain.ts';
import { newestAnchor } from '../../../commands/heads/sign.ts';
import type { CrashPoint, EventStore } from '../../../commands/ports.ts';
import { hour_ms, minute_ms, plus } from '../../../domain/time.ts';
import { operation, operationLeg, operationStatus } from '../../../domain/treasury/operation.ts';
import { followForAnchors } from '../../../src/workers/heads/heads.ts';
import { attemptOf } from '../../support/operations.ts';
import { hashOf } from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';
import { dying, headKeys, headWorld } from '../../workers/headWorld.ts';

const account = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const nameOf = (run: number) => `anchor-1500-${account}-${run}`;

/** A store on which the process dies before or after each call. */
const fragile = (store: EventStore, crash: CrashPoint): EventStore => ({
  ...store,
  read: async (...args) => {
    await crash('before read');
    return store.read(...args);
  },
  append: async (...args) => {
    await crash('before append');
    const appended = await store.append(...args);
    await crash('after append');
    return appended;
  },
});

/** Heads of a log, a process that anchors them, and an engine that carries out the orders. */
async function anchored() {
  const world = headWorld();
  const facts = { cause: 'worker:test', appId: null } as const;
  const deps = (store = world.store, more: Partial<AnchorDeps> = {}): AnchorDeps => ({
    ...{ store, codec: eventCodec, handle: processes({ store }).start() },
    ...{ clock: world.deps().clock, keys: async () => headKeys(1), chainId: 1500, account, every_ms: 24 * hour_ms },
    ...more,
  });
  const find = (run: number) => currentState(deps().handle, operation, nameOf(run));
  const ofRun = async (run: number) => (await find(run)) ?? assert.fail(`there is no run ${run}`);
  const head = async () => {
    await world.grow('payment-1');
    await world.look({ every: { events: 1, duration_ms: 0 } });
  };
  const pass = (duration_ms: number) => {
    world.time.now = plus(world.time.now, duration_ms);
  };
  /** Finishes the run's transaction, as the engine would. */
  const conclude = async (run: number, kind: 'final' | 'dead' = 'final') => {
    const { ordered } = await ofRun(run);
    const { handle } = deps();
    const hash = hashOf(nameOf(run));
    await accepted(
      handle(operation, nameOf(run), (now) => operationLeg.sign(now, 1, { ...attemptOf(ordered), hash }), facts),
    );
    const landed = { kind: 'final', attempt: 1, hash, blockNumber: 9n, blockHash: hashOf('9') } as const;
    const dead = { kind: 'dead', attempts: [1], proof: { reason: 'reverted', detail: 'reverted' } } as const;
    const outcome = kind === 'final' ? landed : dead;
    await accepted(
      handle(operation, nameOf(run), (now) => operationLeg.conclude(now, 1, outcome, world.time.now), facts),
    );
  };
  const anchors = async () =>
    (await world.entries()).flatMap((entry) => (entry.type === 'HeadAnchored' ? [entry.data] : []));
  await head();
  return { ...world, deps, find, ofRun, head, pass, conclude, anchors };
}

describe('an anchor of a head', () => {
  it('is ordered as an operation that moves nothing, and recorded once it is on its chain', async () => {
    const world = await anchored();
    const anchoring = createAnchoring(world.deps());
    const [first] = await world.entries();
    assert.ok(first);
    assert.equal(await anchoring.round(), null);
    const { ordered } = await world.ofRun(1);
    assert.deepEqual(ordered.form, { kind: 'anchor', hash: hashOfHead(first) });
    assert.deepEqual([ordered.kind, ordered.amount, ordered.receiver], ['anchor', '0', account]);
    await world.head();
    await anchoring.round();
    assert.deepEqual(await world.anchors(), [], 'what is not on its chain is not told');
    await world.conclude(1);
    await anchoring.round();
    const [told] = await world.anchors();
    assert.deepEqual(
      [told?.head, told?.headHash, told?.transaction, told?.ledger, told?.position],
      [1, hashOfHead(first), hashOf(nameOf(1)), '9', (await world.entries()).at(-2)?.data.position],
    );
    await world.head();
    await world.audit();
  });

  it('is repeated when it is due and there is another head, and not before', async () => {
    const world = await anchored();
    const anchoring = createAnchoring(world.deps());
    await anchoring.round();
    await world.conclude(1);
    world.pass(24 * hour_ms);
    assert.notEqual(await anchoring.round(), null);
    assert.equal(await world.find(2), null, 'the same head is not put there twice');
    await world.head();
    await anchoring.round();
    assert.equal((await world.ofRun(2)).ordered.kind, 'anchor');
    await world.conclude(2);
    world.pass(23 * hour_ms);
    await world.head();
    await anchoring.round();
    assert.equal(await world.find(3), null);
    assert.equal((await world.anchors()).length, 2);
    await world.audit();
  });

  it('is called off if it could not be signed, or failed, and ordered again within the hour', async () => {
    const world = await anchored();
    const anchoring = createAnchoring(world.deps());
    await anchoring.round();
    world.pass(11 * minute_ms);
    await anchoring.round();
    assert.equal(operationStatus(await world.ofRun(1)), 'calledOff');
    assert.equal(await world.find(2), null);
    world.pass(50 * minute_ms);
    await anchoring.round();
    await world.conclude(2, 'dead');
    await anchoring.round();
    assert.equal(operationStatus(await world.ofRun(2)), 'calledOff');
    world.pass(hour_ms);
    await anchoring.round();
    await world.conclude(3);
    await anchoring.round();
    assert.equal((await world.anchors()).length, 1);
  });

  it('is one for a head, wherever its processes die and however many there are', async () => {
    const world = await anchored();
    /** Dies at each further step in turn. */
    const dieEverywhere = async () => {
      let died = true;
      for (let after = 0; died; after += 1) {
        const round = createAnchoring(world.deps(fragile(world.store, dying(after)))).round();
        died = await round.then(
          () => false,
          () => true,
        );
      }
    };
    await dieEverywhere();
    await world.conclude(1);
    await dieEverywhere();
    await Promise.allSettled([1, 2, 3].map(() => createAnchoring(world.deps()).round()));
    await createAnchoring(world.deps()).round();
    assert.equal((await world.anchors()).length, 1);
    assert.equal(await world.find(2), null);
    await world.audit();
  });

  it('is the newest one in the report to an operator', async () => {
    const world = await anchored();
    assert.equal(await newestAnchor(world.deps()), null);
    await createAnchoring(world.deps()).round();
    await world.conclude(1);
    await createAnchoring(world.deps()).round();
    for (let heads = 0; heads < 30; heads += 1) await world.head();
    assert.equal((await newestAnchor(world.deps()))?.transaction, hashOf(nameOf(1)));
  });

  it('is missed when none succeeds for too long, and its chain holds up nobody', async () => {
    const world = await anchored();
    const ended = new AbortController();
    const [alarms, failures, ages]: [string[], unknown[], number[]] = [[], [], []];
    await followForAnchors(
      {
        anchoring: { round: () => Promise.reject(new Error('the store is away')) },
        clock: {
          now: () => world.time.now,
          async sleep() {
            world.pass(24 * hour_ms);
            if (alarms.length > 0) ended.abort();
          },
        },
        every_ms: 24 * hour_ms,
        alarm: (message) => void alarms.push(message),
        observe: (age_ms) => void ages.push(age_ms),
        failed: (error) => void failures.push(error),
      },
      ended.signal,
    );
    assert.deepEqual([alarms.length, failures.length, ages.map((age) => age / hour_ms)], [1, 4, [0, 24, 48, 72]]);
  });

  it('is recorded with the key that is in force by then', async () => {
    const world = await anchored();
    await createAnchoring(world.deps()).round();
    await world.conclude(1);
    const keys = async () => headKeys(2, { former: [headKeys(1).current] });
    await createAnchoring(world.deps(world.store, { keys })).round();
    const [told] = await world.anchors();
    assert.deepEqual([told?.publicKey, told?.keySince], [headKeys(2).current.publicKey, 2]);
    await world.audit();
  });
});
