import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describeOnRealStore } from '../support/realEventStore.ts';
import { type Clients, openClients } from './twins/clients.ts';
import { compareRestarted, compareSequence, type Tally, type Twins } from './twins/compare.ts';
import { restartedSequences, sequence } from './twins/steps.ts';
import { embeddedTwin, realTwin } from './twins/twin.ts';

/** Set both to repeat a run, or to make a long one. TWIN_RUNS counts the sequences without restarts. */
const runs = Number(process.env['TWIN_RUNS'] ?? 60);
const seed = Number(process.env['TWIN_SEED'] || randomInt(2 ** 31));
const fixedSeed = 37;

/** Sequences that share their restarts, and how many sequences without restarts there are for each such group. */
const groupSize = 12;
const runsPerGroup = 60;
const groups = Math.ceil(runs / runsPerGroup);

/** A long run takes as long as its number of sequences demands. */
const eachStepIsBounded = 0;

describeOnRealStore('the embedded node beside the real one', () => {
  let twins: Twins;
  const tally: Tally = { sequences: 0, steps: 0, restarts: 0 };

  before(async () => {
    const [embedded, real] = await Promise.all([embeddedTwin(), realTwin()]);
    twins = [openClients(embedded), openClients(real)] as const satisfies readonly Clients[];
  });
  after(() => {
    if (twins)
      process.stdout.write(
        `    ${tally.sequences} sequences, ${tally.steps} steps, ${tally.restarts} restarts, seed ${seed}\n`,
      );
  });

  for (const [name, of] of [
    ['a fixed seed', fixedSeed],
    ['a seed of this run', seed],
  ] as const) {
    it(`answer the same steps alike, from ${name}`, async function () {
      this.timeout(eachStepIsBounded);
      await fc.assert(
        fc.asyncProperty(sequence, (each) => compareSequence(twins, each, tally)),
        { seed: of, numRuns: Math.ceil(runs / 2) },
      );
    });
  }

  it('answer the same steps alike, and are followed alike, through restarts between any two of them', async function () {
    this.timeout(eachStepIsBounded);
    await fc.assert(
      fc.asyncProperty(restartedSequences(groupSize), (group) => compareRestarted(twins, group, tally)),
      { seed, numRuns: groups, endOnFailure: true },
    );
  });
});
