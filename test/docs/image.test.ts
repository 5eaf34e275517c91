/** Contents of the image against the service's needs. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { guides } from '../../web/guides/routes.ts';

const root = new URL('../../', import.meta.url).pathname;
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const copied = [...text('Dockerfile').matchAll(/^COPY (?!--from)(\S+) \1$/gm)].map(([, folder]) => folder as string);
const inImage = (file: string) => copied.some((folder) => file.startsWith(`${folder}/`));

describe('Dockerfile', () => {
  it('copies every file that the service imports, and no part of the sandbox or the tests', () => {
    assert.ok(copied.includes('src'));
    const files = copied.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
    assert.ok(files.length > 50);
    for (const file of files) {
      for (const [, target] of text(file).matchAll(/(?:from|import)\(? ?'(\.[^']+)'/g)) {
        const imported = normalize(join(dirname(file), target as string));
        assert.ok(inImage(imported), `${file} imports ${imported}, which the image lacks`);
      }
    }
    assert.deepEqual(
      copied.filter((folder) => /^(sandbox|test|docs\/(?!images|start|integrate|reference))/.test(folder)),
      [],
    );
  });

  it('copies the pages that the service serves as guides', () => {
    for (const [name, folder] of Object.entries(guides)) assert.ok(inImage(`docs/${folder}/${name}.md`), name);
    assert.ok(inImage('docs/images/money.svg'));
  });

  it('lets the build see exactly the copied files', () => {
    const allowed = text('.dockerignore')
      .split('\n')
      .flatMap((line) => /^!(.+)$/.exec(line)?.[1] ?? []);
    const wanted = ['package.json', 'package-lock.json', '.npmrc', ...copied];
    assert.deepEqual(allowed.sort(), wanted.sort());
  });

  it('runs the Node version that tests ran on', () => {
    const { devDependencies } = JSON.parse(text('package.json')) as { devDependencies: { node: string } };
    const images = [...text('Dockerfile').matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    assert.deepEqual(images, [devDependencies.node, devDependencies.node]);
  });

  it('runs the service as `npm run service` does, whose memory was measured', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: { service: string } };
    const [, command = ''] = /^CMD (\[.*\])$/m.exec(text('Dockerfile')) ?? [];
    assert.deepEqual(JSON.parse(command), scripts.service.split(' '));
  });
});
