/**
 * Texts of the dashboard in the language of the page that is being built. The router sets the language of a request, so parts of pages need
 * no argument for them. Outside of such a request every text is English.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { bdi, type Content } from './html.ts';
import { directionOf, type Language, locales } from './language.ts';
import { deskMessages, type English } from './messages/index.ts';
import type { Plural } from './messages/types.ts';

export type TextName = { [N in keyof English]: English[N] extends string ? N : never }[keyof English];
/** A text without places. */
export type PlainName = { [N in TextName]: PlacesOf<English[N]> extends never ? N : never }[TextName];
export type CountedName = Exclude<keyof English, TextName>;

/** The `{places}` of a message in English, which other languages keep. */
type PlacesOf<M> = M extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never;
type Filled<N extends keyof English, V> =
  PlacesOf<English[N]> extends never ? [] : [Readonly<Record<PlacesOf<English[N]>, V>>];

export interface Reading {
  /** The reader's language. */
  readonly language: Language;
  /** Path and query of the page, to return to after a choice of the language; null for the answer to a form. */
  readonly url: string | null;
}

const current = new AsyncLocalStorage<Reading>();

export const inLanguage = <T>(reading: Reading, build: () => T): T => current.run(reading, build);

/** Null outside of a translated page. */
export const pageReading = (): Reading | null => current.getStore() ?? null;

export const pageLanguage = (): Language => current.getStore()?.language ?? 'en';
export const pageLocale = (): string => locales[pageLanguage()];

export const isRightToLeft = (): boolean => directionOf(pageLanguage()) === 'rtl';

/** A text for elements. In languages from right to left, inserted values keep their own direction. */
export function sayContent<N extends TextName>(name: N, ...[values]: Filled<N, Content>): Content {
  const isolates = isRightToLeft();
  return pieces(textOf(name), values, (value) => (isolates && typeof value === 'string' ? bdi(value) : value));
}

/** A text for attributes, titles and sentences of pure text. */
export const sayText = <N extends TextName>(name: N, ...[values]: Filled<N, string>): string =>
  pieces<string>(textOf(name), values, (value) => value).join('');

/** A counted text in the plural form of its count; `{count}` is the number, unless the values replace it. @param values other places of the text */
export function sayCount(name: CountedName, count: number, values: Readonly<Record<string, string>> = {}): string {
  return pieces<string>(...countedText(name, count, values), (value) => value).join('');
}

/** A counted text for elements: in languages from right to left its values keep their own direction, so amounts read from left to right. */
export function countContent(name: CountedName, count: number, values: Readonly<Record<string, Content>>): Content {
  const isolates = isRightToLeft();
  return pieces<Content>(...countedText(name, count, values), (value) =>
    isolates && typeof value === 'string' ? bdi(value) : value,
  );
}

function countedText<V>(name: CountedName, count: number, values: Readonly<Record<string, V>>) {
  const language = pageLanguage();
  const forms: Plural = deskMessages[language][name];
  const form = forms[new Intl.PluralRules(locales[language]).select(count)] ?? forms.other;
  const number = new Intl.NumberFormat(locales[language]).format(count);
  return [form, { count: number, ...values }] as const;
}

const textOf = (name: TextName): string => deskMessages[pageLanguage()][name];

/** A message with its placeholders filled: texts and values alternate. */
function pieces<V>(message: string, values: Readonly<Record<string, V>> = {}, put: (value: V) => V): (V | string)[] {
  return message.split(/\{(\w+)\}/).flatMap((piece, index): (V | string)[] => {
    if (index % 2 === 0) return piece === '' ? [] : [piece];
    const value = values[piece];
    return value === undefined ? [] : [put(value)];
  });
}
