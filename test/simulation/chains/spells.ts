/** Temporary faults of a node. */
import type { Kernel } from '../kernel/ports.ts';

/** Probability that a spell begins at each draw of the weather, and its maximum duration. */
export interface SpellKind {
  readonly likelihood: number;
  readonly most_blocks: number;
}

export interface Spells<Name extends string> {
  /** Lets some begin, and others end. @returns those that begin now */
  draw(): readonly Name[];
  has(spell: Name): boolean;
  /** All end. */
  calm(): void;
}

interface SpellsOptions<Name extends string> {
  /** Its faults are called `<family>.node.<spell>`. */
  readonly family: string;
  readonly block_ms: number;
  readonly kinds: Readonly<Partial<Record<Name, SpellKind>>>;
}

export function createSpells<Name extends string>(
  { fails, random, now_ms }: Kernel,
  { family, block_ms, kinds }: SpellsOptions<Name>,
): Spells<Name> {
  const ends = new Map<Name, number>();
  const all = Object.entries<SpellKind>(kinds as Readonly<Record<string, SpellKind>>);

  return {
    draw() {
      const begun: Name[] = [];
      for (const [name, { likelihood, most_blocks }] of all) {
        const spell = name as Name;
        if ((ends.get(spell) ?? 0) > now_ms() || !fails(`${family}.node.${spell}`, likelihood)) continue;
        ends.set(spell, now_ms() + (1 + random.below(most_blocks)) * block_ms);
        begun.push(spell);
      }
      return begun;
    },
    has: (spell) => (ends.get(spell) ?? 0) > now_ms(),
    calm: () => ends.clear(),
  };
}
