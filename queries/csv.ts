/** CSV (RFC 4180) that no spreadsheet takes for formulas: texts in it may come from strangers. */

/**
 * Where a spreadsheet may begin to read a cell: at its start, and behind a character that some of them take for a separator, white space
 * aside. There these characters begin a formula (OWASP, CSV injection); an apostrophe before them marks the cell as text.
 */
const formula = /^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[,;|\t\r\n"])(?=\s*[=+\-@＝＋－＠])/g;

/** A number that this program has reckoned: read as a number, it is no formula, whatever its sign. */
export interface Figure {
  readonly figure: string;
}

function cell(content: string | Figure | null): string {
  if (content === null) return '""';
  if (typeof content !== 'string' && plainNumber.test(content.figure)) return `"${content.figure}"`;
  const text = typeof content === 'string' ? content : content.figure;
  return `"${text.replace(formula, "'").replaceAll('"', '""')}"`;
}

const plainNumber = /^-?\d+(\.\d+)?$/;

/** Null is an empty cell. All cells are quoted. */
export const csvLine = (cells: readonly (string | Figure | null)[]): string => `${cells.map(cell).join(',')}\r\n`;
