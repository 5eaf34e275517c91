/** Copies of the working tree for bugs, separate from all other work. */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changed } from './change.ts';
import type { NamedMutant } from './mutant.ts';

export interface Tree {
  readonly folder: string;
  /** Runs the work on the tree with the bug, then removes it. @throws StaleMutant */
  with<T>(mutant: NamedMutant, work: () => Promise<T>): Promise<T>;
  remove(): void;
}

/** Folders of the tree that are neither source nor spec, or are too large. A source folder further down may have the same name. */
const leftOut: readonly string[] = ['node_modules', '.git', 'data', 'backup'];

/**
 * @param root of the working tree
 * @param linked files are hard links if both folders are on the same disk; then nothing may write into them. Default:
 * true
 */
export function copyTree(root: string, { linked = true } = {}): Tree {
  const folder = mkdtempSync(join(tmpdir(), 'payment-intents-mutant-'));
  // Postgres runs as another user and reads files in the tree.
  chmodSync(folder, 0o755);
  const skipped = new Set(leftOut.map((name) => join(root, name)));
  fill(root, folder, { skipped, put: linked ? linkOrCopy : copyFileSync });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    async with(mutant, work) {
      const file = join(folder, mutant.file);
      const text = readFileSync(file, 'utf8');
      const bug = changed(mutant, text);
      put(file, bug);
      try {
        return await work();
      } finally {
        put(file, text);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Removes the link first, so that the copied tree does not change. */
function put(file: string, text: string): void {
  rmSync(file);
  writeFileSync(file, text);
}

type Put = (source: string, copy: string) => void;

function fill(
  from: string,
  to: string,
  { skipped, put }: { readonly skipped: ReadonlySet<string>; readonly put: Put },
) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (skipped.has(source)) continue;
    if (entry.isDirectory()) {
      mkdirSync(copy);
      fill(source, copy, { skipped, put });
    } else if (entry.isFile()) put(source, copy);
  }
}

function linkOrCopy(source: string, copy: string): void {
  try {
    linkSync(source, copy);
  } catch {
    copyFileSync(source, copy);
  }
}
