import type { NamedMutant } from './mutant.ts';

/** The text that a mutant replaces is missing from its file, or occurs more than once. */
export class StaleMutant extends Error {
  override readonly name = 'StaleMutant';
  constructor({ name, file }: Pick<NamedMutant, 'name' | 'file'>, times: number) {
    super(
      `mutant ${name} is stale: what it replaces stands ${times} times in ${file}; write mutants/known/${name}.ts anew`,
    );
  }
}

/** Returns the file's text with the bug in it. @throws StaleMutant */
export function changed(mutant: Pick<NamedMutant, 'name' | 'file' | 'from' | 'to'>, text: string): string {
  const parts = text.split(mutant.from);
  if (parts.length !== 2) throw new StaleMutant(mutant, parts.length - 1);
  return parts.join(mutant.to);
}
