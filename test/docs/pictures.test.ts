/** Pictures against their source text, and the pictures that a running service serves. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { draw, pictureNames, pictureOf } from '../../docs/generate/pictures.ts';
import { guideNames, readGuide, renderGuide } from '../../web/guides/routes.ts';

const folder = new URL('../../docs/images/', import.meta.url);

describe('the pictures', () => {
  it('agree with their text, and no other SVG exists', () => {
    const committed = readdirSync(folder).filter((name) => name.endsWith('.svg'));
    assert.deepEqual(
      committed.sort(),
      pictureNames().map((name) => `${name}.svg`),
    );
    for (const name of pictureNames())
      assert.equal(
        readFileSync(new URL(`${name}.svg`, folder), 'utf8'),
        pictureOf(name),
        `${name}: run \`npm run docs\``,
      );
  });

  it('have colours for light and dark, a title, and nothing from other hosts', () => {
    for (const name of pictureNames()) {
      const picture = pictureOf(name);
      assert.match(picture, /@media \(prefers-color-scheme: dark\)/);
      assert.match(picture, /<title id="title">[^<]{20,}<\/title>/);
      assert.doesNotMatch(picture, /<script|<image|href=|url\(http|style="/);
      assert.deepEqual(
        [...picture.matchAll(/font-size: (\d+)px/g)].filter(([, size]) => Number(size) < 14),
        [],
      );
    }
  });

  it('are in the guides, each with a text for people who do not see it', () => {
    for (const name of pictureNames()) {
      const guide = guideNames.find((each) => readGuide(each).includes(`/images/${name}.svg`));
      assert.ok(guide, name);
      const [, text = ''] =
        new RegExp(`<img src="/docs/images/${name}\\.svg" alt="([^"]*)">`).exec(renderGuide(guide)) ?? [];
      assert.ok(text.length > 40, name);
    }
  });

  it('refuse boxes that overlap, are too small for their text, or are outside, and arrows that lead nowhere', () => {
    const wrong =
      (...lines: string[]) =>
      () =>
        draw(['boxes 200 100', ...lines].join('\n'));
    assert.throws(wrong('box a 0 0 80 40 A', 'box b 60 20 80 40 B'), /boxes b and a overlap/);
    assert.throws(wrong('box a 0 0 40 40 A long name'), /box a is too narrow/);
    assert.throws(wrong('box a 0 0 80 40 A | b | c'), /box a is too low/);
    assert.throws(wrong('box a 150 0 80 40 A'), /box a is outside/);
    assert.throws(wrong('box a 0 0 80 40 A', 'arrow a.right b.left'), /leads to nothing: b\.left/);
    assert.throws(() => draw('sequence 200\nactor a A\nmessage a b | says'), /a message of nobody/);
    assert.doesNotThrow(wrong('box a 0 0 80 40 A', 'box b 100 20 80 40 B', 'arrow a.right b.left | to'));
  });
});
