import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { Keypair } from 'solana-web3-v1';
import { type SolanaLab, solanaLab, tokenAccount } from '../../support/solana.ts';
import { isFull } from '../../support/suite.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const runs = isFull ? 10 : 4;

type Act = ['pay', bigint] | ['fail'] | ['advance', number] | ['fork', number] | ['restart'];

const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant('pay' as const), fc.bigInt(1n, 1_000n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('fail' as const)) },
    { weight: 4, arbitrary: fc.tuple(fc.constant('advance' as const), fc.integer({ min: 1, max: 3 })) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('fork' as const), fc.integer({ min: 1, max: 4 })) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('restart' as const)) },
  ),
  { minLength: 5, maxLength: 20 },
);

/** Landed transactions that were not rolled back: signature, slot, moved amount. */
interface Landed {
  readonly signature: string;
  readonly slot: number;
  readonly amount: bigint;
}

describe('local Solana, under any actions', () => {
  it('returns balances and histories that agree, at every commitment, through forks and restarts', async () => {
    const directory = temporaryDirectory();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        const stateFile = join(directory, `${run++}.jsonl`);
        let lab = await solanaLab({ stateFile });
        const [payer, to] = [await lab.person(), Keypair.generate().publicKey];
        lab.solana.advanceSlots(4);
        let landed: readonly Landed[] = [];
        for (const act of all) {
          if (act[0] === 'restart') {
            await lab.stop();
            lab = await solanaLab({ stateFile });
          } else {
            landed = await carryOut(lab, act, { payer, to, landed });
          }
          await check(lab, to, landed);
        }
        await lab.stop();
      }),
      { numRuns: runs },
    );
  });

  async function carryOut(
    lab: SolanaLab,
    act: Exclude<Act, ['restart']>,
    { payer, to, landed }: { payer: Keypair; to: Keypair['publicKey']; landed: readonly Landed[] },
  ): Promise<readonly Landed[]> {
    const { chain } = lab.solana;
    // Makes each payment a different transaction.
    const memo = randomUUID();
    switch (act[0]) {
      case 'pay': {
        const signature = await lab.pay({ from: payer, to, amount: act[1], memo });
        return [...landed, { signature, slot: chain.head(), amount: act[1] }];
      }
      case 'fail': {
        const failing = await lab.signed(payer, await lab.payment({ from: payer, to, amount: 10n ** 15n, memo }));
        const signature = await lab.send(failing, { skipPreflight: true });
        return [...landed, { signature, slot: chain.head(), amount: 0n }];
      }
      case 'advance':
        chain.advance(act[1]);
        return landed;
      case 'fork': {
        const slot = Math.max(chain.head() - act[1], chain.head() - chain.finality.finalized_slots);
        const gone = landed.filter((each) => each.slot > slot).map(({ signature }) => signature);
        assert.deepEqual(chain.fork(slot, false), gone);
        return landed.filter((each) => each.slot <= slot);
      }
    }
  }

  async function check(lab: SolanaLab, to: Keypair['publicKey'], landed: readonly Landed[]): Promise<void> {
    const account = await tokenAccount(to);
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const slot = await lab.connection.getSlot(commitment);
      const seen = landed.filter((each) => each.slot <= slot);
      const balance = await lab.balance(to, commitment).catch(() => 0n);
      assert.equal(
        balance,
        seen.reduce((sum, { amount }) => sum + amount, 0n),
        commitment,
      );
      if (commitment === 'processed') continue;
      const history = await lab.connection.getSignaturesForAddress(account, {}, commitment);
      const signatures = history.map(({ signature }) => signature);
      assert.deepEqual(signatures, seen.map(({ signature }) => signature).toReversed(), commitment);
    }
  }
});
