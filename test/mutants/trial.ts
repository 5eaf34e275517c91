/** Applies each mutant and runs its specs: they must fail with the mutant and pass without it. */
import type { NamedMutant } from './mutant.ts';
import { runSeed, runSpecs, type SpecsRun } from './specs.ts';
import { copyTree, type Tree } from './tree.ts';

/**
 * `sound`: result of the specs without the bug; missing if it was not requested. `simulated`: the invariant that the
 * simulation found broken with the mutant's seed; missing without a seed.
 */
export interface Trial {
  readonly mutant: NamedMutant;
  readonly run: SpecsRun;
  readonly sound?: SpecsRun;
  readonly simulated?: string | null;
}

export const isCaught = ({ run, sound, simulated }: Trial): boolean =>
  run.ended === 'red' && (sound === undefined || sound.ended === 'green') && simulated !== null;

interface TryOptions {
  readonly root: string;
  readonly mutants: readonly NamedMutant[];
  /** Number of concurrent trees. */
  readonly atOnce: number;
  readonly done: (what: string) => void;
}

/** Number of runs, for a progress display. */
export const runsOf = (mutants: readonly NamedMutant[]): number => mutants.length + specsOf(mutants).length;

const specsOf = (mutants: readonly NamedMutant[]): readonly string[] => [
  ...new Set(mutants.map(({ specs }) => specs.join(' '))),
];

export async function tryMutants({ root, mutants, atOnce, done }: TryOptions): Promise<readonly Trial[]> {
  const trees = Array.from({ length: atOnce }, () => copyTree(root));
  try {
    const soundRuns = await sideBySide(trees, specsOf(mutants), async (tree, specs) => {
      const run = await runSpecs(tree.folder, specs.split(' '));
      done(`without a bug: ${specs}`);
      return [specs, run] as const;
    });
    const sound = new Map(soundRuns);
    return await sideBySide(trees, mutants, async (tree, mutant) => {
      const { seed } = mutant;
      const tried = await tree.with(mutant, async () => ({
        run: await runSpecs(tree.folder, mutant.specs),
        ...(seed !== undefined && { simulated: await runSeed(tree.folder, seed) }),
      }));
      done(mutant.name);
      const without = sound.get(mutant.specs.join(' '));
      return { mutant, ...tried, ...(without && { sound: without }) };
    });
  } finally {
    for (const tree of trees) tree.remove();
  }
}

/** Each tree takes the next item when it has finished one. */
async function sideBySide<T, R>(
  trees: readonly Tree[],
  items: readonly T[],
  work: (tree: Tree, item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const next = items.entries();
  await Promise.all(
    trees.map(async (tree) => {
      for (const [at, item] of next) results[at] = await work(tree, item);
    }),
  );
  return results;
}
