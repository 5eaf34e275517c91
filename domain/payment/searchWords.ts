/** Spelling of the words by which payments are found, the same in the read model and in a search. */

/** Characters of a word that are kept and compared. */
const wordMax = 64;
/** Texts as they are compared: in lower case, with single spaces, cut. */
export const searchWord = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('\0', '\ufffd')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, wordMax)
    .toWellFormed();

/** `12.5` and `12.50` are one amount. @param decimal without a sign */
export function amountWord(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return `$${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

export const tagWord = (tag: string): string => `#${searchWord(tag)}`;
