import type { Language } from '../../parts/language.ts';
import { createSay, type Messages, type Say } from '../language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { zh } from './zh.ts';

export const messages: Readonly<Record<Language, Messages>> = { en, es, de, zh, ar };

const made = new Map<Language, Say>();

/** Returns the message function of a language. */
export function sayIn(language: Language): Say {
  const known = made.get(language) ?? createSay(language, messages[language]);
  made.set(language, known);
  return known;
}
