/** CSV (RFC 4180) that no spreadsheet takes for formulas: texts in it may come from strangers. */

/**
 * Where a spreadsheet may begin to read a cell: at its start, and behind what some of them take for a separator. There these
 * characters begin a formula (OWASP, CSV injection); an apostrophe before them says that it is text.
 */
const formula = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[,;|\t\r\n"])(?=[=+\-@＝＋－＠])/g;

const cell = (text: string | null): string => `"${(text ?? '').replace(formula, "'").replaceAll('"', '""')}"`;

/** Null is an empty cell. All cells are quoted. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(cell).join(',')}\r\n`;
