/** Each mutant is put in and its specs are run: they have to fail, and to be green without it. */
import type { NamedMutant } from './mutant.ts';
import { runSeed, runSpecs, type SpecsRun } from './specs.ts';
import { copyTree, type Tree } from './tree.ts';

/**
 * `sound`: the specs as they run without the bug; missing where that was not asked for. `simulated`: what the simulation found broken with the
 * mutant's seed; missing where it has none.
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
  /** So many trees side by side. */
  readonly atOnce: number;
  readonly done: (what: string) => void;
}

/** So many runs are made, for whoever shows how far it is. */
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

/** Each tree takes the next when it is done with one. */
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
