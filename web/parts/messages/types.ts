/** Types of the dashboard's texts: English is the list of their names. */
import type { Language } from '../language.ts';
import type { deskEnglish } from './en.ts';

/** The forms of a counted text. Each language has its own forms: Arabic has six. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** A translation of English texts. A message that is missing does not compile. */
export type Translated<English> = { readonly [N in keyof English]: English[N] extends string ? string : Plural };

/** One language of the frame and of the first pages. */
export type DeskMessages = Translated<typeof deskEnglish>;

/** Texts of a group of pages: English, and its translations with the same names and the same {places}. */
export const textGroup = <const English extends Readonly<Record<string, string | Plural>>>(
  en: English,
  others: Readonly<Record<Exclude<Language, 'en'>, Translated<English>>>,
) => ({ en, ...others });
