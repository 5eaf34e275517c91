/** Chains as operators name them on a command line. */
import { type Chain, chains, findChain } from '../domain/chains.ts';

/** By id, or by name in any letter case, of which the beginning is enough where it is one chain's alone. */
export function namedChain(stated: string): Chain | undefined {
  const text = stated.trim().toLowerCase();
  const byId = findChain(text);
  if (byId || text === '') return byId;
  const called = chains.filter(({ name }) => name.toLowerCase().startsWith(text));
  return called.find(({ name }) => name.toLowerCase() === text) ?? (called.length === 1 ? called[0] : undefined);
}

/** All that can be named, for a message that says so. */
export const chainNames = (): string => chains.map(({ id, name }) => `${name} (${id})`).join(', ');
