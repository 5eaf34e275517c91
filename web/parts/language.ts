/** The languages of pages, and the choice of one. */

export const languages = ['en', 'es', 'de', 'zh', 'ar'] as const;
export type Language = (typeof languages)[number];

/** Each language's name in the language itself. */
export const ownNames: Readonly<Record<Language, string>> = {
  en: 'English',
  es: 'Español',
  de: 'Deutsch',
  zh: '中文',
  ar: 'العربية',
};

export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');

/** Digits as in wallets and explorers, in every language. */
export const locales: Readonly<Record<Language, string>> = {
  en: 'en-GB',
  es: 'es',
  de: 'de',
  zh: 'zh-CN',
  ar: 'ar-u-nu-latn',
};

/** Arabic dates contain marks between their numbers. Pages set the direction by elements instead. */
export const directionMarks = /[\u200e\u200f\u061c]/g;

/**
 * The visitor's chosen language, else the browser's preferred one (RFC 9110, 12.5.4), else English.
 *
 * @param chosen in the address @param accepted the Accept-Language header
 */
export function languageOf(chosen: string | undefined, accepted: string | null): Language {
  const stated = languages.find((language) => language === chosen);
  if (stated) return stated;
  const liked = (accepted ?? '')
    .slice(0, acceptedMax)
    .split(',')
    .flatMap((range, place) => {
      const [tag = '', ...parameters] = range.trim().toLowerCase().split(';');
      const weight =
        parameters.map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(parameter)?.[1]).find(Boolean) ?? '1';
      const language = languages.find((known) => tag === known || tag.startsWith(`${known}-`));
      return language && Number(weight) > 0 ? [{ language, weight: Number(weight), place }] : [];
    });
  const [best] = liked.toSorted((a, b) => b.weight - a.weight || a.place - b.place);
  return best?.language ?? 'en';
}

/** Maximum characters of the header. */
const acceptedMax = 500;
