import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { families } from '../../src/chains/families.ts';

const root = new URL('../../', import.meta.url);
const pages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'clients/python/README.md',
  'clients/typescript/README.md',
  'clients/examples/shop/README.md',
  ...readdirSync(new URL('docs/', root), { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];
const text = (page: string) => readFileSync(new URL(page, root), 'utf8');

/** Scripts of a package; empty without one. */
const scriptsIn = (file: string): Readonly<Record<string, string>> =>
  existsSync(new URL(file, root)) ? JSON.parse(text(file)).scripts : {};

/** Anchors of a page's headings, as Markdown hosts generate them. */
const anchorsOf = (page: string) =>
  [...text(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const repositoryPath =
  /^(\.[a-z-]+\.[a-z]+|(domain|commands|projections|queries|src|web|tools|sandbox|contracts|clients|deploy|test|docs)\/[\w./<>-]*)$/;

/** Code spans outside of code blocks that begin like a path from the root. `<family>` means each of the chain families. */
const pathsIn = (markdown: string): readonly string[] =>
  [...markdown.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g)]
    .map(([, code]) => code as string)
    .filter((code) => repositoryPath.test(code))
    .flatMap((path) => Object.keys(families).map((family) => path.replace('<family>', family)));

describe('documentation', () => {
  for (const page of pages) {
    it(`${page} links to existing targets`, () => {
      const links = [...text(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
      for (const link of links.filter((target) => !/^(https?:|\/docs$)/.test(target))) {
        const [path, anchor] = link.split('#') as [string, string?];
        const target = path ? new URL(path, new URL(page, root)) : new URL(page, root);
        assert.ok(existsSync(target), `${link} does not exist`);
        if (anchor)
          assert.ok(anchorsOf(target.pathname.slice(root.pathname.length)).includes(anchor), `no heading ${link}`);
      }
    });

    it(`${page} names existing files`, () => {
      for (const path of pathsIn(text(page))) assert.ok(existsSync(new URL(path, root)), path);
    });

    it(`${page} names existing npm scripts and programs`, () => {
      const scripts = { ...scriptsIn('package.json'), ...scriptsIn(`${dirname(page)}/package.json`) };
      for (const [, name] of text(page).matchAll(/npm run ([a-z:]+(?:-[a-z]+)*)/g))
        assert.ok(scripts[name as string], `no script ${name}`);
      for (const [, file] of text(page).matchAll(/\bnode (\S+\.ts)/g))
        assert.ok(existsSync(new URL(file as string, root)), file);
    });
  }
});
