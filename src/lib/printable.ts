/**
 * Makes foreign text safe for a terminal. Order ids, memos and nodes' answers are chosen by others: raw, they could move the cursor, clear
 * the screen, begin a line, or reverse neighbouring text.
 */

/** Controls, with ESC and line breaks; formats, with bidi controls and tags; line separators; lone surrogates; invisible characters. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

/** Also escapes the backslash of a literal \u{1b}, so no two texts look the same. */
const unprintableOrEscape = new RegExp(`\\\\(?=u\\{)|${unprintable.source}`, unprintable.flags);

/** Returns one line: invisible or controlling characters become their number, such as \u{1b}. */
export const printable = (text: string): string =>
  text.replaceAll(unprintableOrEscape, (each) => `\\u{${codeOf(each).toString(16)}}`);

/**
 * The same JSON with unprintable characters of strings as JSON escapes: parsers read the same value.
 * @param json result of JSON.stringify, whose own line breaks stay
 */
export const printableJson = (json: string): string =>
  json.replaceAll(unprintable, (each) =>
    each === '\n' ? each : each.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
