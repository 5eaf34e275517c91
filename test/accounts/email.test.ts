import assert from 'node:assert/strict';
import { readEmail } from '../../src/accounts/emails.ts';

describe('accounts: e-mail addresses', () => {
  const one: readonly (readonly [text: string, read: string])[] = [
    ['ada@shop.example', 'ada@shop.example'],
    ['ADA@Shop.Example', 'ada@shop.example'],
    ['a.d.a+tag@shop.example', 'a.d.a+tag@shop.example'],
    ["o'hara_1%x@mail.shop.example", "o'hara_1%x@mail.shop.example"],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@ＳＨＯＰ.example', 'ada@shop.example'],
  ];
  for (const [text, read] of one) it(`reads ${text} as ${read}`, () => assert.equal(readEmail(text), read));

  it('keeps look-alikes apart', () => {
    assert.notEqual(readEmail('ada@аpple.example'), readEmail('ada@apple.example'));
    assert.equal(readEmail('аda@apple.example'), undefined);
  });

  it('keeps dots and tags, because only the mail server knows whose mailbox they are', () => {
    assert.notEqual(readEmail('a.da@shop.example'), readEmail('ada@shop.example'));
    assert.notEqual(readEmail('ada+x@shop.example'), readEmail('ada@shop.example'));
  });

  const none = [
    '',
    'ada',
    '@shop.example',
    'ada@',
    'ada@localhost',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'ada@1.2',
    'ada@shop..example',
    'ada@-shop.example',
    'ada@shop.example.',
    'ada@shop.example/path',
    'ada@shop%2eexample',
    'ada@shop.example:25',
    'ada@ex ample.com',
    'ada shop@shop.example',
    'a@b@shop.example',
    '.ada@shop.example',
    'ada.@shop.example',
    'a..da@shop.example',
    '"ada lovelace"@shop.example',
    'ada@shop.example\r\nBcc: eve@evil.example',
    'ada\r\n@shop.example',
    'ada@shop.example, eve@evil.example',
    'ada@shop.example eve@evil.example',
    'Ada <ada@shop.example>',
    '<ada@shop.example>',
    'ada@shop.example\0',
    `${'a'.repeat(65)}@shop.example`,
    `ada@${'a'.repeat(64)}.example`,
    `ada@${'abcdefghi.'.repeat(26)}example`,
  ];
  for (const text of none) {
    it(`refuses ${JSON.stringify(text.slice(0, 50))}`, () => assert.equal(readEmail(text), undefined));
  }
});
