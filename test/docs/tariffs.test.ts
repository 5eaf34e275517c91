import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { monthly, tariffs } from '../bench/tariffs.ts';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** The cells of a table's rows, by column name. */
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

type Family = 'evm' | 'solana' | 'stellar';

/** Adds the chain's family to each row; a row without one belongs to the family above. */
function withFamilies(rows: readonly Readonly<Record<string, string>>[]) {
  let family: Family = 'evm';
  return rows.map((row) => {
    const chain = row['chain'] ?? '';
    if (/^[A-Z]/.test(chain))
      family = chain.startsWith('Solana') ? 'solana' : chain.startsWith('Stellar') ? 'stellar' : 'evm';
    return [family, row] as const;
  });
}

describe('the price of nodes', () => {
  it('is the same on every page, by the tariffs of the bench', () => {
    const told = [
      ...rowsOf(page('operate/going-live.md')).map((row) => ({
        calls: row['calls a second'],
        chain: 'evm' as Family,
        row,
      })),
      ...withFamilies(rowsOf(page('explain/performance.md'))).map(([chain, row]) => ({
        calls: row['calls/s'],
        chain,
        row,
      })),
    ];
    assert.ok(told.length >= 6);
    for (const { calls, chain, row } of told) {
      for (const [at, { name }] of tariffs.entries()) {
        const [own, solana] = dollarsIn(row[name]);
        // The page states rates with one decimal.
        const [least, most] = [-0.05, 0.05].map((by) => monthly(Number(calls) + by, chain)[at]);
        const fits = own === undefined ? least === null : Number(least) <= Number(own) && Number(own) <= Number(most);
        assert.ok(fits, `${name} at ${calls} calls a second, ${chain}: ${own}, not ${least} to ${most}`);
        if (solana) assert.equal(solana, monthly(Number(calls), 'solana')[at], `${name}, Solana, at ${calls}`);
      }
    }
  });
});
