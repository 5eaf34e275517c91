/**
 * Text of anybody, as a terminal may be given it. Order ids, memos and what nodes answer are chosen by others: raw, they could move the
 * cursor, colour or clear the screen, begin a line of their own, or turn what stands beside them.
 */

/** Controls, with ESC and line breaks; formats, with bidi controls and tags; line separators; halves of characters; what is shown as nothing. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

/** Who writes \u{1b} himself gets its backslash shown by number, so that no two texts look the same. */
const unprintableOrEscape = new RegExp(`\\\\(?=u\\{)|${unprintable.source}`, unprintable.flags);

/** One line: what cannot be seen, or would steer the terminal, is shown by its number, such as \u{1b}. */
export const printable = (text: string): string =>
  text.replaceAll(unprintableOrEscape, (each) => `\\u{${codeOf(each).toString(16)}}`);

/**
 * The same JSON, with its strings' unprintable characters as JSON escapes: programs read what they read before.
 * @param json of JSON.stringify, whose line breaks are its own
 */
export const printableJson = (json: string): string =>
  json.replaceAll(unprintable, (each) =>
    each === '\n' ? each : each.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
