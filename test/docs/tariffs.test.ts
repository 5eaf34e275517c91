import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { monthly, tariffs } from '../../bench/tariffs.ts';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** The cells of a table's rows, by the names in its head. */
function rowsOf(text: string): readonly Readonly<Record<string, string>>[] {
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines = text.split('\n').map(cellsOf);
  const head = lines.findIndex((cells) => tariffs.every(({ name }) => cells.includes(name)));
  const end = lines.findIndex((cells, at) => at > head && cells.length === 0);
  return lines
    .slice(head + 2, end)
    .map((cells) => Object.fromEntries(cells.map((cell, at) => [lines[head]?.[at] ?? '', cell])));
}

/** The first number in a cell, and the one for Solana. */
const dollarsIn = (cell = '') =>
  [/^[\d,]+/.exec(cell)?.[0], /Solana ([\d,]+)/.exec(cell)?.[1]].map((text) => text && Number(text.replace(',', '')));

describe('what nodes cost', () => {
  it('is the same wherever it is told, by the tariffs of the bench', () => {
    const told = [
      ...rowsOf(page('going-live.md')).map((row) => [row['calls a second'], row] as const),
      ...rowsOf(page('performance.md')).map((row) => [row['calls/s'], row] as const),
    ];
    assert.ok(told.length >= 6);
    for (const [calls, row] of told) {
      for (const [at, { name }] of tariffs.entries()) {
        const [evm, solana] = dollarsIn(row[name]);
        assert.equal(evm, monthly(Number(calls), 'evm')[at], `${name} at ${calls} calls a second`);
        if (solana) assert.equal(solana, monthly(Number(calls), 'solana')[at], `${name}, Solana, at ${calls}`);
      }
    }
  });
});
