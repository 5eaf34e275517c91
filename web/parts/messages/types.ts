/** Types of the dashboard's texts: English is the list of their names. */
import type { deskEnglish } from './en.ts';

/** The forms of a counted text. Each language has its own forms: Arabic has six. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

export type English = typeof deskEnglish;
/** One language. A message that is missing does not compile. */
export type DeskMessages = { readonly [N in keyof English]: English[N] extends string ? string : Plural };
