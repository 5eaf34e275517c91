import assert from 'node:assert/strict';
import { folderCycles } from './folderCycles.ts';

const none = /^$/;

describe('circles of folders', () => {
  it('are found across several folders, though no files import each other in a circle', () => {
    const files = [
      { source: 'a/one.ts', imports: ['b/one.ts'] },
      { source: 'b/two.ts', imports: ['c/one.ts'] },
      { source: 'c/two.ts', imports: ['a/two.ts', 'd/one.ts'] },
    ];
    assert.deepEqual(folderCycles(files, none), [['a', 'b', 'c']]);
  });

  it('are found between a folder and one that a folder below it imports', () => {
    const files = [
      { source: 'a/below/one.ts', imports: ['b/one.ts'] },
      { source: 'b/one.ts', imports: ['a/one.ts'] },
    ];
    assert.deepEqual(folderCycles(files, none), [['a', 'b']]);
  });

  it('do not arise from imports inside a folder, or in one direction', () => {
    const files = [
      { source: 'a/one.ts', imports: ['a/two.ts', 'a/below/one.ts', 'b/one.ts'] },
      { source: 'b/one.ts', imports: ['c/one.ts'] },
    ];
    assert.deepEqual(folderCycles(files, none), []);
  });

  it('do not arise through excluded files, which import or are imported', () => {
    const files = [
      { source: 'a/one.ts', imports: ['b/one.ts'] },
      { source: 'b/index.ts', imports: ['a/one.ts'] },
      { source: 'b/two.ts', imports: ['a/index.ts'] },
    ];
    assert.deepEqual(folderCycles(files, /index/), []);
    assert.deepEqual(folderCycles(files, none), [['a', 'b']]);
  });
});
