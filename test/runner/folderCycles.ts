import { dirname } from 'node:path/posix';

/** A file and the files it imports, as paths from the root of the repository. */
export interface Imports {
  readonly source: string;
  readonly imports: readonly string[];
}

/**
 * Finds cycles of folders. A folder imports what any file in it or below it imports from outside of it.
 * @param leftOut files that the check ignores as importing and as imported
 * @returns each group of folders that reach each other, sorted by name
 */
export function folderCycles(files: readonly Imports[], leftOut: RegExp): readonly (readonly string[])[] {
  const edges = folderImports(files, leftOut);
  const reachable = new Map([...edges.keys()].map((folder) => [folder, reachableFrom(folder, edges)]));
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const [folder, reached] of reachable) {
    if (seen.has(folder) || !reached.has(folder)) continue;
    const cycle = [...reached].filter((other) => reachable.get(other)?.has(folder)).sort();
    for (const each of cycle) seen.add(each);
    cycles.push(cycle);
  }
  return cycles;
}

function folderImports(files: readonly Imports[], leftOut: RegExp): ReadonlyMap<string, ReadonlySet<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { source, imports } of files.filter(({ source }) => !leftOut.test(source))) {
    for (const folder of foldersAbove(source)) {
      const targets = edges.get(folder) ?? new Set();
      edges.set(folder, targets);
      for (const path of imports) if (!leftOut.test(path) && !path.startsWith(`${folder}/`)) targets.add(dirname(path));
    }
  }
  return edges;
}

/** The file's folder and each folder above it, without the root. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [folder, ...foldersAbove(folder)];
}

function reachableFrom(folder: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(edges.get(folder) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return reached;
}
