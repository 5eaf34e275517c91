import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import {
  changedFields,
  noProfile,
  type ProfileChange,
  readProfileChange,
  setProfile,
} from '../../domain/merchant/profile.ts';
import { given, named, registered } from '../support/bakery.ts';

describe('an app’s public profile', () => {
  describe('profile', () => {
    const read = (change: ProfileChange) => readProfileChange(change);
    const problem = (change: ProfileChange) => {
      const refusal = read(change);
      return isRefusal(refusal) ? refusal.pointer : assert.fail(`${JSON.stringify(change)} is taken`);
    };

    it('keeps valid values, in one spelling', () => {
      assert.deepEqual(
        read({
          name: '  Bäckerei & Söhne 🥐 ',
          supportContact: 'help@bakery.example',
          returnUrlTemplate: 'HTTPS://Bakery.example/thanks/{orderId}?p={paymentId}&s={status}',
          colour: '#AABBCC',
        }),
        {
          name: 'Bäckerei & Söhne 🥐',
          supportContact: 'help@bakery.example',
          returnUrlTemplate: 'https://bakery.example/thanks/{orderId}?p={paymentId}&s={status}',
          colour: '#aabbcc',
        },
      );
      assert.deepEqual(read({ supportContact: 'https://bakery.example/help#form', colour: null }), {
        supportContact: 'https://bakery.example/help#form',
        colour: null,
      });
    });

    for (const name of ['', '   ', 'x'.repeat(81), 'a\nb', 'a\u0000', 'a\u202egnp', 'a\u200b', '\ud800'])
      it(`has no name like ${JSON.stringify(name.slice(0, 10))}`, () => assert.equal(problem({ name }), '/name'));

    for (const supportContact of [
      'help',
      'a b@c.example',
      'javascript:alert(1)',
      'http://a.example',
      'a@b',
      '<a@b.ex>',
    ])
      it(`has no contact like ${supportContact}`, () => assert.equal(problem({ supportContact }), '/supportContact'));

    for (const returnUrlTemplate of [
      'http://bakery.example/{orderId}',
      'https://{orderId}/',
      'https://{orderId}.bakery.example/',
      'https://bakery.example:{orderId}/',
      'https://bakery.example@{orderId}/',
      'https://user:pass@bakery.example/',
      'https://bakery.example/{secret}',
      'https://bakery.example/{{orderId}}',
      'https://bakery.example/}',
      'javascript:alert("{orderId}")',
      `https://bakery.example/${'x'.repeat(2_048)}`,
    ])
      it(`returns no buyer to ${returnUrlTemplate.slice(0, 40)}`, () =>
        assert.equal(problem({ returnUrlTemplate }), '/returnUrlTemplate'));

    for (const colour of ['red', '#abc', '#12345g', 'url(x)', '#1234567'])
      it(`has no colour like ${colour}`, () => assert.equal(problem({ colour }), '/colour'));

    it('is set as a whole, based on its previous state', () => {
      const next = { digest: 'e'.repeat(64), changed: changedFields(noProfile, { ...noProfile, colour: '#aabbcc' }) };
      given([registered, named])
        .when((state) => setProfile(state, next, 'd'.repeat(64)))
        .then([{ type: 'ProfileSet', data: { digest: 'e'.repeat(64), changed: ['colour'] } }]);
      given([registered, named])
        .when((state) => setProfile(state, next, null))
        .thenRefused('conflict', /same time/);
    });
  });
});
