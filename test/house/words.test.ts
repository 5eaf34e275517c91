/**
 * Plain words in code: comments, titles of specs, and one meaning per exported name. Docs pages have a separate spec, which can use
 * `refusedBeginnings` and `dialect` of wordRules.ts.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { commentsIn, dialect, exportsIn, refusedBeginnings, refusedTitles, titlesIn } from './wordRules.ts';

const root = join(import.meta.dirname, '../..');
const product = ['domain', 'commands', 'projections', 'queries', 'src', 'tools', 'web', 'contracts'];
const commented = [...product, 'sandbox', 'clients', 'test'];
/** Generated from the OpenAPI document, whose descriptions have specs of their own. */
const generated = 'clients/typescript/src/api.ts';

/** Modules that implement one interface for several chain families may export equal names. */
const family = /^src\/chains\/(evm|solana|stellar)\//;

/**
 * Names that two rooms share because they mean the same: a decision of the domain and the command or operator's verb around it; a concept's stored schema,
 * folded state and API schema; the catalogue of the main and of the test networks.
 */
const sharedNames: ReadonlySet<string> = new Set([
  ...['callOffRefund', 'chooseSource', 'createPayment', 'holdPayout', 'issueKey', 'pausePayouts', 'recordPayin'],
  ...['register', 'registerPayin', 'resumePayouts'],
  ...['Address', 'Attempt', 'Chain', 'ChainId', 'KeyRequest', 'Landed', 'LinkRequest', 'Memo', 'Metadata', 'PayFrom'],
  ...['PaymentStatus', 'PaymentType', 'RefundRequest', 'RegistrationRequest', 'Settled', 'Settlement'],
  ...['SettlementRequest', 'Short', 'StatsPeriod', 'Text', 'Time', 'TokenSymbol', 'WebhookEvent', 'WebhookEventType'],
  ...['closed', 'networks', 'oneOf'],
]);

describe('comments in code', () => {
  it('begin with a noun or a verb and name their subject', () => {
    assert.deepEqual(refused(refusedBeginnings), []);
  });

  it('use the words of the field', () => {
    assert.deepEqual(refused(dialect), []);
  });

  it('are found in both forms if they break the rules', () => {
    const text = "/** What came of it. */\nconst a = 'What: /* no comment */';\n  // Whoever may,\n  // and so on.\n";
    assert.deepEqual(commentsIn(text), ['What came of it.', 'Whoever may, and so on.']);
    for (const bad of [
      'What came of it.',
      'Whose money it is.',
      'Of the chain.',
      'So many at most.',
      'Those that wait.',
    ])
      assert.match(bad, refusedBeginnings);
    for (const good of ['Whether it runs.', 'Offset of the amount.', 'Whole tokens.', 'Sources of a payment.'])
      assert.doesNotMatch(good, refusedBeginnings);
    for (const bad of ['The merchant is told.', 'It is left out.', 'Retried by itself.', 'A made-up payin.'])
      assert.match(bad, dialect);
  });

  function refused(pattern: RegExp): readonly string[] {
    return filesOf(commented).flatMap(({ path, text }) =>
      commentsIn(text)
        .filter((comment) => pattern.test(comment.replaceAll(/`[^`]*`/g, '')))
        .map((comment) => `${path}: ${comment}`),
    );
  }
});

describe('titles of specs', () => {
  it('begin with a noun or a predicate', () => {
    assert.deepEqual(refused(refusedTitles), []);
  });

  it('use the words of the field', () => {
    assert.deepEqual(refused(dialect), []);
  });

  it('are found in each form', () => {
    const text =
      "describe('a', () => {\n  it(`b`, () => {});\n  it.skip(\n    'it\\'s',\n  );\n  describeOnReal(\"d\", f);";
    assert.deepEqual(titlesIn(text), ['a', 'b', "it's", 'd']);
    for (const bad of ['what a node says', 'that fails', 'of a batch', 'Whose order is late'])
      assert.match(bad, refusedTitles);
    for (const good of ['offers a price', 'whether it waits', 'a payment that fails', 'thatched'])
      assert.doesNotMatch(good, refusedTitles);
  });

  function refused(pattern: RegExp): readonly string[] {
    const files = filesOf(['test']);
    assert.ok(files.flatMap(({ text }) => titlesIn(text)).length > 5_000);
    return files.flatMap(({ path, text }) =>
      titlesIn(text)
        .filter((title) => pattern.test(title.replaceAll(/\$\{[^}]*\}/g, '')))
        .map((title) => `${path}: ${title}`),
    );
  }
});

describe('an exported name', () => {
  it('has one meaning in the product', () => {
    assert.deepEqual(namesInSeveralFiles(), []);
  });

  it('in the list of shared names is still declared in several files', () => {
    const repeated = new Set([...declarations()].filter(([, files]) => files.length > 1).map(([name]) => name));
    assert.deepEqual(
      [...sharedNames].filter((name) => !repeated.has(name)),
      [],
    );
  });

  it('is found in each form of declaration', () => {
    const text =
      "export const a = 1;\nexport async function b() {}\nexport class C {}\nexport type D = 1;\nexport const { e, f: g } = x;\nconst h = 1;\nexport { h } from 'x';\nexport type { I } from 'x';\n";
    assert.deepEqual(exportsIn(text), ['a', 'b', 'C', 'D', 'e', 'g']);
  });

  function namesInSeveralFiles(): readonly string[] {
    return [...declarations()]
      .filter(([name, files]) => files.length > 1 && !sharedNames.has(name) && !areFamilies(files))
      .map(([name, files]) => `${name}: ${files.join(', ')}`);
  }

  function areFamilies(files: readonly string[]): boolean {
    const families = files.map((file) => family.exec(file)?.[1]);
    return !families.includes(undefined) && new Set(families).size === files.length;
  }

  function declarations(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const { path, text } of filesOf(product))
      for (const name of new Set(exportsIn(text))) found.set(name, [...(found.get(name) ?? []), path]);
    return found;
  }
});

function filesOf(rooms: readonly string[]): readonly { readonly path: string; readonly text: string }[] {
  return rooms
    .flatMap((room) => readdirSync(join(root, room), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/(node_modules|artifacts|dist)\//.test(file) && !file.endsWith(generated))
    .map((file) => ({ path: relative(root, file), text: readFileSync(file, 'utf8') }));
}
