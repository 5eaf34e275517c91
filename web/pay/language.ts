/** How the messages of payment pages become text in the payer's language. */
import { bdi, type Content } from '../parts/html.ts';
import { directionMarks, type Language, locales } from '../parts/language.ts';
import type { en } from './messages/en.ts';

export type MessageName = keyof typeof en;
/** One language. A message that is missing does not compile. */
export type Messages = Readonly<Record<MessageName, string>>;

/** The `{places}` of a message in English, which other languages keep. */
type PlacesOf<M extends string> = M extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never;
export type Places<N extends MessageName, V> = Readonly<Record<PlacesOf<(typeof en)[N]>, V>>;
type Filled<N extends MessageName, V> = PlacesOf<(typeof en)[N]> extends never ? [] : [Places<N, V>];

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

// Cost of sending, in dollars: people compare it with the price of the purchase, not with its last digit.

const cent_microUsd = 10_000n;

/** @returns the cost as a sign, `< $0.01`, and in words; both rounded up to a full cent */
export function costText(say: Say, cost_microUsd: bigint): { readonly sign: string; readonly words: string } {
  const cents = Number((cost_microUsd + cent_microUsd - 1n) / cent_microUsd);
  if (cents <= 1) {
    const amount = say.dollars(1);
    return { sign: `< ${amount}`, words: say.text('costLess', { amount }) };
  }
  const amount = say.dollars(cents);
  return { sign: `≈ ${amount}`, words: say.text('costAbout', { amount }) };
}
