import type { Language } from '../language.ts';
import { deskArabic } from './ar.ts';
import { deskGerman } from './de.ts';
import { deskEnglish } from './en.ts';
import { deskSpanish } from './es.ts';
import type { DeskMessages } from './types.ts';
import { deskChinese } from './zh.ts';

export const deskMessages: Readonly<Record<Language, DeskMessages>> = {
  en: deskEnglish,
  es: deskSpanish,
  de: deskGerman,
  zh: deskChinese,
  ar: deskArabic,
};
