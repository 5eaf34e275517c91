import fc from 'fast-check';

/** Parameters of a property that is repeated until enough has occurred: with a given seed each round would otherwise have the cases of the first. */
export function casesOfRound(round: number): { readonly seed?: number } {
  const { seed } = fc.readConfigureGlobal();
  return seed === undefined ? {} : { seed: seed + round };
}
