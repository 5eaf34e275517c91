import assert from 'node:assert/strict';
import fc from 'fast-check';
import { csvLine } from '../../queries/paymentsCsv.ts';
import { cellsOf } from '../support/csv.ts';

describe('CSV', () => {
  it('quotes every cell, doubles quotes, and leaves a cell empty for null', () => {
    assert.equal(csvLine(['a', null, 'say "hi", twice']), '"a","","say ""hi"", twice"\r\n');
  });

  it('marks as text every formula of a spreadsheet', () => {
    const marked = (text: string): string => cellsOf(csvLine([text]))[0]?.[0] ?? assert.fail();
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '－1']) {
      assert.ok(marked(text).startsWith("'"), JSON.stringify(text));
    }
    assert.equal(marked(`=cmd|' /C calc'!A0`), `'=cmd|' /C calc'!A0`);
    assert.equal(marked('tea;=1+1'), "tea;'=1+1");
    assert.equal(marked('x",=1+1'), `x",'=1+1`);
    assert.equal(marked('a\n=1+1'), "a\n'=1+1");
  });

  it('marks a formula behind white space, which spreadsheets skip', () => {
    for (const space of [' ', '  ', '\u00a0', '\u2003', '\u3000'])
      assert.ok(cellsOf(csvLine([`${space}=1+1`]))[0]?.[0]?.startsWith("'"), JSON.stringify(space));
    assert.equal(cellsOf(csvLine(['tea; =1+1']))[0]?.[0], "tea;' =1+1");
  });

  it('leaves a number of our own a number, also below zero, and marks a text that only looks like one', () => {
    assert.equal(csvLine([{ figure: '-0.05' }, { figure: '1004' }]), '"-0.05","1004"\r\n');
    assert.equal(csvLine([{ figure: '-1+1' }]), '"\'-1+1"\r\n');
  });

  it('leaves everything else unchanged', () => {
    for (const text of [
      '10.00',
      '0xabc',
      'A-1042',
      'Käse + Brot',
      'a=b',
      '2026-11-21T09:00:00.000Z',
      "it's",
      'a, b; c',
    ]) {
      assert.equal(cellsOf(csvLine([text]))[0]?.[0], text);
    }
  });

  it('can be read back, for any texts, and no cell begins a formula', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n;,|"\' aé') });
    fc.assert(
      fc.property(fc.array(fc.array(texts, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), (rows) => {
        const read = cellsOf(rows.map(csvLine).join(''));
        assert.equal(read.length, rows.length);
        for (const [index, cells] of read.entries()) {
          const given = rows[index] ?? [];
          assert.equal(cells.length, given.length);
          for (const [place, cell] of cells.entries()) {
            assert.doesNotMatch(cell, /(^|[,;|\t\r\n"])[=+\-@]/);
            const bare = (text: string) => text.replaceAll("'", '');
            assert.equal(bare(cell), bare(given[place] ?? ''));
          }
        }
      }),
    );
  });
});
