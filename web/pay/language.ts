/** The languages of the payment page, and how its messages become text. */
import { bdi, type Content } from '../parts/html.ts';
import type { en } from './messages/en.ts';

export type MessageName = keyof typeof en;
/** One language. A message that is missing does not compile. */
export type Messages = Readonly<Record<MessageName, string>>;

/** The `{places}` of a message in English, which other languages keep. */
type PlacesOf<M extends string> = M extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never;
export type Places<N extends MessageName, V> = Readonly<Record<PlacesOf<(typeof en)[N]>, V>>;
type Filled<N extends MessageName, V> = PlacesOf<(typeof en)[N]> extends never ? [] : [Places<N, V>];

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

export interface Say {
  readonly language: Language;
  /** For elements. Inserted values keep their own direction. */
  <N extends MessageName>(name: N, ...filled: Filled<N, Content>): Content;
  /** For attributes and titles. */
  text<N extends MessageName>(name: N, ...filled: Filled<N, string>): string;
  /** A day and a time in UTC, in the language's format. */
  time(at: string): string;
  /** A counted unit in the language's plural form for this count: Arabic has six. */
  duration(count: number, unit: DurationUnit): string;
  /** A counted unit in the language's shortest form. */
  short(count: number, unit: DurationUnit): string;
  /** Dollars in the language's format; fractions of a cent are cut off. */
  dollars(cents: number): string;
}

export type DurationUnit = 'second' | 'minute' | 'hour';

/** Arabic dates contain marks between their numbers. Pages set the direction by elements instead. */
export const directionMarks = /[\u200e\u200f\u061c]/g;

export function createSay(language: Language, messages: Messages): Say {
  const format = new Intl.DateTimeFormat(locales[language], {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
  });
  const say = <N extends MessageName>(name: N, ...[values]: Filled<N, Content>): Content =>
    pieces(messages[name], values, (value, before) =>
      typeof value === 'string' ? bdi(asWritten(value, before)) : value,
    );
  /** A shop without a name is a noun, which may begin a sentence. */
  const asWritten = (value: string, before: string): string =>
    value === messages.merchant && /(^|[.!?] )$/.test(before)
      ? value.charAt(0).toLocaleUpperCase(language) + value.slice(1)
      : value;
  return Object.assign(say, {
    language,
    text: <N extends MessageName>(name: N, ...[values]: Filled<N, string>): string =>
      pieces<string>(messages[name], values, asWritten).join(''),
    time: (at: string): string => `${format.format(new Date(at)).replaceAll(directionMarks, '')} UTC`,
    duration: (count: number, unit: DurationUnit): string =>
      new Intl.NumberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    short: (count: number, unit: DurationUnit): string =>
      new Intl.NumberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'short' }).format(count),
    dollars: (cents: number): string =>
      new Intl.NumberFormat(locales[language], { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' })
        .format(cents / 100)
        .replaceAll(directionMarks, ''),
  });
}

/** A message with its placeholders filled: texts and values alternate. @param put also receives the text before the placeholder */
function pieces<V>(
  message: string,
  values: Readonly<Record<string, V>> = {},
  put: (value: V, before: string) => V,
): (V | string)[] {
  const parts = message.split(/\{(\w+)\}/);
  return parts.flatMap((piece, index): (V | string)[] => {
    if (index % 2 === 0) return piece === '' ? [] : [piece];
    const value = values[piece];
    return value === undefined ? [] : [put(value, parts[index - 1] ?? '')];
  });
}

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
