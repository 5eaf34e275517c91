/** Reads CSV whose cells are all quoted (RFC 4180). */
export const cellsOf = (text: string): readonly (readonly string[])[] => {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, cell = '', end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    row.push(cell.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
};

/** Each row by its head's names. */
export function tableOf(text: string): readonly Readonly<Record<string, string>>[] {
  const [head = [], ...rows] = cellsOf(text);
  return rows.map((row) => Object.fromEntries(row.map((cell, place) => [head[place], cell])));
}
