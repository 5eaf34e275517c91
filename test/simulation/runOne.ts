/** One seed: prints its trace on request; shrinks a failing one, and prints the command to repeat it. */
import './edge/hooks.ts';
import type { Habit } from './world/habits.ts';
import type { Outcome } from './world/simulate.ts';

interface Options {
  readonly seed: number;
  readonly trace?: boolean;
  readonly only?: string;
  readonly payments?: number;
  readonly habits?: readonly Habit[];
  readonly shrink: boolean;
}

/** Last lines printed for a failing run. */
const lastLines = 25;

/** @returns whether it failed */
export async function runOne({
  seed,
  trace = false,
  only,
  payments,
  habits,
  shrink: shrinks,
}: Options): Promise<boolean> {
  const { simulate } = await import('./world/simulate.ts');
  const { simulatedChains } = await import('./chains.ts');
  const { shrink } = await import('./report/shrink.ts');
  const faults = only === undefined ? null : new Set(only.split(',').filter((fault) => fault !== ''));
  const last: string[] = [];
  const traced = (line: string): void => {
    if (trace) console.log(line);
    last.push(line);
    if (last.length > lastLines) last.shift();
  };
  const given = {
    seed,
    chains: simulatedChains,
    ...(payments !== undefined && { payments }),
    ...(habits && { habits }),
  };
  const outcome = await simulate({ ...given, only: faults, traced });
  console.log(sentence(outcome));
  if (outcome.failure === null) return false;
  if (!trace) console.log(last.map((line) => `  ${line}`).join('\n'));
  if (!shrinks) return true;
  const smallest = await shrink(outcome, (smaller) => simulate({ ...given, ...smaller }));
  console.log(`\nSmallest run that fails so: ${smallest.only.size} faults, ${smallest.payments} payments`);
  console.log(`  ${smallest.outcome.failure?.message}`);
  const list = [...smallest.only].join(',');
  const own = habits ? ` --habits '${habits.join()}'` : '';
  console.log(
    `  npm run simulate -- --seed ${seed} --payments ${smallest.payments} --only '${list}'${own} --no-shrink --trace`,
  );
  return true;
}

function sentence({ seed, hash, failure, steps, payments, faults }: Outcome): string {
  const what = `seed ${seed}: ${payments} payments, ${steps} steps, ${faults.length} faults, trace ${hash.slice(0, 16)}`;
  return failure ? `${what}\nFAILED ${failure.invariant}: ${failure.message}` : `${what}: all is well`;
}
