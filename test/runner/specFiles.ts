import { globSync } from 'node:fs';

/** Folders whose specs start whole worlds, load many pages, or mostly wait. They run first, so that no shard ends with a long file alone. */
const slow = [
  'test/realStore/',
  'test/realChains/',
  'test/e2e/shared/',
  'test/e2e/',
  'test/web/',
  'test/hostile/',
  'test/simulation/',
  'test/sandbox/',
  'test/http/',
];

/** A whole world each: a service, its stores, chains and nodes in processes of their own. */
export const isWorld = (file: string): boolean => /(^|\/)test\/(realStore|e2e|hostile)\//.test(file);

/** Folder whose files run in one shard, because they share one started world (test/support/sharedSandbox.ts); undefined for other files. */
export const sharedWorldOf = (file: string): string | undefined =>
  /(?:^|\/)test\/(e2e\/shared|realChains\/shared(?:Evm)?)\//.exec(file)?.[1];

/** Runs only in the full suite. */
export const isFullOnly = (file: string): boolean => file.endsWith('.full.test.ts');

/** Every spec file of the suite. New files need no entry. */
export function specFiles({ full }: { readonly full: boolean }): readonly string[] {
  const rank = (file: string): number => {
    const place = slow.findIndex((folder) => file.startsWith(folder));
    return place < 0 ? slow.length : place;
  };
  // A package of its own below test/ has specs of its dependencies.
  return globSync('test/**/*.test.ts', { exclude: ['**/node_modules'] })
    .filter((file) => full || !isFullOnly(file))
    .toSorted()
    .toSorted((one, other) => rank(one) - rank(other));
}
