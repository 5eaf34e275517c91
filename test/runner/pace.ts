/** Measures how slow the machine is, so that a run asks less of a slow one: fewer shards, and longer block times. */

const rounds = 3;
const objectsPerRound = 200_000;
/** Milliseconds of a round on a usual idle machine. */
const usual_ms = 80;
/** Beyond this, specs wait rather than compute. */
const paceMax = 6;

/** @returns the factor by which work is slower than usual, from 1 to 6, measured by half a second of computation */
export function measuredPace(): number {
  const began_ms = performance.now();
  for (let round = 0; round < rounds; round += 1) work();
  const round_ms = (performance.now() - began_ms) / rounds;
  return Math.min(Math.max(round_ms / usual_ms, 1), paceMax);
}

function work(): void {
  const texts = new Map<string, string>();
  for (let at = 0; at < objectsPerRound; at += 1)
    texts.set(`key ${at % 5_000}`, JSON.stringify({ at, parts: [at, String(at)] }));
}

/** A machine counts as slow from this factor on. */
const slowFrom = 2;

/** @param usual shards of a machine that is not slow */
export const shardsAt = (pace: number, usual: number): number => (pace < slowFrom ? usual : Math.ceil(usual / pace));

/** Seconds between the blocks of local chains. Seven chains cost a third of a processor at five blocks a second. */
export const blockTimeAt = (pace: number): number => (pace < slowFrom ? 0.2 : Math.round(2 * pace) / 10);
