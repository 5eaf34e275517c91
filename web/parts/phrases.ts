/**
 * Sentences that the service writes in English, such as refusals and entries of the audit trail, in the language of a page. A sentence is
 * found by its form: `must be at most {limit} percent`.
 */
import type { Language } from './language.ts';
import { pageLanguage } from './say.ts';

/** English with {places}, then each other language with the same places. */
export interface Phrase extends Readonly<Record<Language, string>> {
  /** Translations of the values of some places. */
  readonly within?: Readonly<Record<string, (value: string) => string>>;
}

/** Null for a sentence of no known form. English sentences stay as they are. */
export function phrased(phrases: readonly Phrase[], text: string): string | null {
  const language = pageLanguage();
  if (language === 'en') return text;
  for (const phrase of phrases) {
    const values = valuesIn(phrase.en, text);
    if (values === null) continue;
    return phrase[language].replaceAll(/\{(\w+)\}/g, (_, place: string) => {
      const value = values[place] ?? '';
      return phrase.within?.[place]?.(value) ?? value;
    });
  }
  return null;
}

/** The values of the places if the text has the form. Each value ends where the form's next words first appear, so the time is linear. */
function valuesIn(form: string, text: string): Readonly<Record<string, string>> | null {
  const [start = '', ...rest] = form.split(/\{(\w+)\}/);
  if (!text.startsWith(start)) return null;
  const values: Record<string, string> = {};
  let from = start.length;
  for (let index = 0; index < rest.length; index += 2) {
    const [place = '', words = ''] = [rest[index], rest[index + 1]];
    const isLast = index + 2 >= rest.length;
    const end = isLast ? text.length - words.length : text.indexOf(words, from);
    if (end < from || !text.startsWith(words, end)) return null;
    values[place] = text.slice(from, end);
    from = end + words.length;
  }
  return from === text.length ? values : null;
}
