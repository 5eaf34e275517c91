/** Agreement of several nodes before a payout on Solana is signed: was it made already? And the cost of haste. */
import assert from 'node:assert/strict';
import { PublicKey, SystemProgram } from 'solana-web3-v1';
import { PayoutBlocked } from '../../../../commands/transferPorts.ts';
import { forkTo } from '../../../../sandbox/solana/controls.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { solanaFees } from '../../../../src/chains/solana/config.ts';
import { createSolanaPayoutRail } from '../../../../src/chains/solana/payouts/rail.ts';
import { tokenAccount } from '../../../support/solana.ts';
import { type Behaviour, broken, Refusal, startProxy } from '../../proxy.ts';
import { orderTo, payoutReference, type SolanaWorld, signal, solanaWorld } from '../world.ts';

describe('a payout on Solana, before it is signed,', () => {
  let world: SolanaWorld;
  beforeEach(async () => {
    world = await solanaWorld();
  });
  afterEach(() => world.lab.stop());

  /** A rail over nodes that each answer one method in their own way. */
  async function railOver(method: string, ...answers: readonly Behaviour[]) {
    const nodes = await Promise.all(
      answers.map((answer) =>
        startProxy(world.solana.rpcUrl, (asked, params, forward) =>
          asked === method ? answer(asked, params, forward) : forward(asked, params),
        ),
      ),
    );
    return world.railOf(nodes.map(({ url }) => url));
  }

  describe('was not made before', () => {
    const honest: Behaviour = (method, params, forward) => forward(method, params);
    const emptyIndex: Behaviour = async () => [];
    const method = 'getSignaturesForAddress';
    const isBehind = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'treasuryBehindChain';
    /** A paid order that the log does not contain. */
    async function paid(reference = 'payment-1') {
      const order = orderTo(world.nobody(), 5_000000n, { reference });
      await world.rail.broadcast((await world.attemptTo(order)).bytes);
      world.settle();
      return order;
    }

    it('by two nodes: one whose index is empty is contradicted by the other', async () => {
      const order = await paid();
      for (const nodes of [
        [emptyIndex, honest],
        [honest, emptyIndex],
      ])
        await assert.rejects((await railOver(method, ...nodes)).numbering.prepare(order), isBehind);
    });

    it('by neither while one of two cannot answer', async () => {
      const order = orderTo(world.nobody());
      await assert.rejects((await railOver(method, honest, broken)).numbering.prepare(order), ChainUnavailable);
      await (await railOver(method, honest, honest, broken)).numbering.prepare(order);
    });

    it('though its first attempt was given up and the index is empty: that attempt is queried by its own signature', async () => {
      const order = orderTo(world.nobody());
      const first = await world.attemptTo(order);
      await world.rail.broadcast(first.bytes);
      world.settle();
      const rail = await railOver(method, emptyIndex);
      await assert.rejects(rail.numbering.prepare({ ...order, earlier: [first.hash] }), isBehind);
    });

    describe('by the only node, if that has the treasury’s whole history:', () => {
      const isUnproven = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'historyUnproven';

      it('not while its index is empty, though neither it nor the log knows of the payment', async () => {
        const order = await paid();
        await assert.rejects((await railOver(method, emptyIndex)).numbering.prepare(order), isUnproven);
        await assert.rejects(
          (await railOver(method, emptyIndex)).numbering.prepare(orderTo(world.nobody())),
          isUnproven,
        );
      });

      it('not while its index has stopped before it', async () => {
        await paid();
        const slot = world.solana.chain.head();
        const order = await paid('payment-2');
        const stopped: Behaviour = async (asked, params, forward) =>
          ((await forward(asked, params)) as { slot: number }[]).filter((each) => each.slot < slot);
        await assert.rejects((await railOver(method, stopped)).numbering.prepare(order), isUnproven);
        await assert.rejects((await railOver(method, stopped, emptyIndex)).numbering.prepare(order), isUnproven);
      });

      it('again after a fork, after which listed transactions land in another place', async () => {
        const { rail } = world;
        const attempts = [];
        for (const reference of ['payment-1', 'payment-2']) {
          const attempt = await world.attemptTo(orderTo(world.nobody(), 5_000000n, { reference }));
          await rail.broadcast(attempt.bytes);
          attempts.push(attempt);
        }
        // Confirmed, not yet final.
        world.solana.advanceSlots(1);
        await rail.numbering.prepare(orderTo(world.nobody(), 1n, { reference: 'payment-3' }));
        const [first, second] = attempts;
        const landed = await world.lab.connection.getSignatureStatuses([first?.hash ?? '']);
        const slot = landed.value[0]?.slot ?? assert.fail();
        await forkTo(world.solana.rpcUrl, slot - 1);
        await rail.broadcast(second?.bytes ?? '');
        world.solana.advanceSlots(1);
        await rail.numbering.prepare(orderTo(world.nobody(), 1n, { reference: 'payment-3' }));
      });

      it('again as soon as it is whole, whatever strangers have sent to the account since', async () => {
        let index = emptyIndex;
        const rail = await railOver(method, (...asked) => index(...asked));
        await assert.rejects(rail.numbering.prepare(orderTo(world.nobody())), isUnproven);
        index = honest;
        await rail.numbering.prepare(orderTo(world.nobody()));
        const stranger = await world.lab.person();
        const toPubkey = await tokenAccount(world.treasury.publicKey);
        for (const lamports of [1, 2, 3]) {
          const dust = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey, lamports });
          await world.lab.send(await world.lab.signed(stranger, [dust]));
        }
        world.settle();
        await rail.numbering.prepare(orderTo(world.nobody()));
        await world.lab.pay({ from: stranger, to: world.treasury.publicKey, amount: 5n });
        world.settle();
        await rail.numbering.prepare(orderTo(world.nobody()));
      });
    });

    it('however little a node lists at a time: a stranger’s transaction hides none', async () => {
      const order = await paid();
      const stranger = await world.lab.person();
      const own = stranger.publicKey;
      const naming = SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: 1 });
      naming.keys.push({ pubkey: new PublicKey(payoutReference(order)), isSigner: false, isWritable: false });
      await world.lab.send(await world.lab.signed(stranger, [naming]));
      world.settle();
      const clipped: Behaviour = async (asked, params, forward) =>
        ((await forward(asked, params)) as unknown[]).slice(0, 1);
      await assert.rejects((await railOver(method, clipped)).numbering.prepare(order), isBehind);
    });

    it('not with an unreadable transaction of its reference: nothing is signed', async () => {
      const order = await paid();
      const newer: Behaviour = async () => {
        throw new Refusal(-32015, 'Transaction version (2) is not supported by the requesting client.');
      };
      await assert.rejects((await railOver('getTransaction', newer)).numbering.prepare(order), isBehind);
    });
  });

  describe('is offered a price', () => {
    const telling =
      (price: number): Behaviour =>
      async () =>
        Array.from({ length: 10 }, (_, slot) => ({ slot, prioritizationFee: price }));
    const dead = (count: number) => Array.from({ length: count }, () => '2'.repeat(88));
    const priceBy = async (prices: readonly number[], attemptsBefore = 0) => {
      const rail = await railOver('getRecentPrioritizationFees', ...prices.map(telling));
      const order = orderTo(world.nobody(), 1n, { earlier: dead(attemptsBefore) });
      return Number((await rail.numbering.prepare(order)).fee['price_microLamports']);
    };
    const { priceMin_microLamports, priceMax_microLamports } = solanaFees();
    const [least, most] = [Number(priceMin_microLamports), Number(priceMax_microLamports)];

    it('by no node alone: the lower of two, the middle of three, within the bounds', async () => {
      assert.equal(await priceBy([0]), least);
      assert.equal(await priceBy([90_000]), 90_000);
      assert.equal(await priceBy([10 ** 12]), most);
      assert.equal(await priceBy([10 ** 12, 2_000]), 2_000);
      assert.equal(await priceBy([2_000, 10 ** 12, 3_000]), 3_000);
    });

    it('and rises with each earlier attempt, up to the operator’s limit', async () => {
      assert.deepEqual(
        [await priceBy([2_000], 0), await priceBy([2_000], 1), await priceBy([2_000], 2), await priceBy([2_000], 40)],
        [2_000, 8_000, 32_000, most],
      );
      const config = world.config(undefined, { fees: solanaFees(2_000n) });
      const rail = createSolanaPayoutRail(config, payoutReference);
      const { fee } = await rail.numbering.prepare(orderTo(world.nobody(), 1n, { earlier: dead(40) }));
      assert.equal(fee['price_microLamports'], '10000');
      assert.ok(BigInt(fee['maxFee'] ?? '') <= 5_000n + 2_000n);
      assert.ok((await rail.transferCost(signal)) <= 7_000n);
    });
  });
});
