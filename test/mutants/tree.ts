/** Copies of the working tree in which a bug can be put: nobody else sees it. */
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
  /** Runs the work on the tree with the bug, then takes it out again. @throws StaleMutant */
  with<T>(mutant: NamedMutant, work: () => Promise<T>): Promise<T>;
  remove(): void;
}

/** Folders of the tree that are neither source nor spec, or too much of it. A folder of sources can have the same name deeper down. */
const leftOut: readonly string[] = ['node_modules', '.git', 'data', 'backup'];

/**
 * @param root of the working tree
 * @param linked files are linked where they are on the same disk; nothing may write into them then. Default: true
 */
export function copyTree(root: string, { linked = true } = {}): Tree {
  const folder = mkdtempSync(join(tmpdir(), 'payment-intents-mutant-'));
  // Postgres runs as somebody else, and looks at files in it.
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

/** The link is cut first: the tree that was copied stays as it is. */
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
