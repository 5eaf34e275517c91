import { readdirSync } from 'node:fs';
import type { Mutant, NamedMutant } from './mutant.ts';

const folder = new URL('./known/', import.meta.url);

/** All mutants, by name. */
export async function knownMutants(): Promise<readonly NamedMutant[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const { mutant } = (await import(new URL(file, folder).href)) as { readonly mutant: Mutant };
      return { name: file.replace(/\.ts$/, ''), ...mutant };
    }),
  );
}
