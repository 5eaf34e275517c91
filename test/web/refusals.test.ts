/** Refusals in the languages of the dashboard: every code, every sentence that a form can get, and the words that stay as they are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { errorCodes } from '../../src/api/errors.ts';
import { refusedForm } from '../../web/dashboard/forms.ts';
import { refusalText } from '../../web/dashboard/refusals.ts';
import { type Language, languages } from '../../web/parts/language.ts';
import { auditPhrases } from '../../web/parts/phrases/audit.ts';
import { fieldPhrases } from '../../web/parts/phrases/fields.ts';
import { moreRefusals } from '../../web/parts/phrases/moreRefusals.ts';
import { refusalPhrases } from '../../web/parts/phrases/refusals.ts';
import { type Phrase, phrased } from '../../web/parts/phrases.ts';
import { inLanguage } from '../../web/parts/say.ts';

const others = languages.filter((language) => language !== 'en');
const here = <T>(language: Language, build: () => T): T => inLanguage({ language, url: null }, build);

const catalogues: Readonly<Record<string, readonly Phrase[]>> = {
  fieldPhrases,
  refusalPhrases,
  moreRefusals,
  auditPhrases,
};
const placesOf = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

/** Sources of the refusals that forms of the dashboard can get. */
const sources = [
  'commands/links.ts',
  'commands/merchantRegistration.ts',
  'domain/merchant/keys.ts',
  'domain/merchant/notifications.ts',
  'domain/merchant/profile.ts',
  'domain/merchant/roles.ts',
  'domain/merchant/settings.ts',
  'domain/merchant/app.ts',
  'domain/merchant/state.ts',
  'domain/merchant/team.ts',
  'domain/merchant/webhook.ts',
  'domain/payment/tending.ts',
  'domain/payment/refundAddress.ts',
  'domain/payment/refundOrder.ts',
  'src/accounts/accounts.ts',
  'src/accounts/register.ts',
  'src/accounts/signIn.ts',
  'src/images/logo.ts',
  'web/dashboard/branding.ts',
  'web/dashboard/cashback.ts',
  'web/dashboard/newLink.ts',
  'web/dashboard/policy.ts',
];

/** Codes with a page of their own, and refusals that only the API or an operator gets. */
const withoutForm = (code: string, message: string): boolean =>
  ['notFound', 'paymentNotFound', 'illegalStep', 'orderConflict'].includes(code) ||
  [
    'only a signed-in person can do this',
    'a link pays the settlement wallet of a merchant_ app',
    'choose where to pay from',
    'the link is closed',
    'webhook type ',
    'an app has at most ',
    'must be a whole number from 0 to ',
    'appId x is not of the form ',
    'x is not a wallet_ app',
    'the account that signed has sent nothing ',
    'its address was set x times',
    'another address was set in the meantime',
  ].some((start) => message.startsWith(start));

/** Sentences of a source, with a value in each of their places. */
function refusalsIn(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const calls = text.matchAll(/\brefuse\(\s*'(\w+)',\s*('(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g);
  return [...calls].flatMap(([, code = '', literal = '']) => {
    const message = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, 'x');
    return withoutForm(code, message) || /^x (x|must be x$)|^must be x$|^x$/.test(message) ? [] : [message];
  });
}

describe('refusals in the languages of the dashboard', () => {
  for (const [name, phrases] of Object.entries(catalogues)) {
    it(`keeps the places of each English sentence in ${name}`, () => {
      for (const phrase of phrases)
        for (const language of others) {
          assert.notEqual(phrase[language].trim(), '', phrase.en);
          const known = placesOf(phrase.en);
          assert.deepEqual(
            placesOf(phrase[language]).filter((place) => !known.includes(place)),
            [],
            `${language}: ${phrase.en}`,
          );
        }
    });

    it(`finds each sentence of ${name} by its own form`, () => {
      here('de', () => {
        for (const phrase of phrases) {
          const sentence = phrase.en.replaceAll(/\{\w+\}/g, 'x');
          assert.equal(phrased(phrases, sentence), phrased([phrase], sentence), sentence);
        }
      });
    });
  }

  for (const language of others) {
    it(`has a text for every code in ${language}`, () => {
      here(language, () => {
        const texts = errorCodes.map((code) => refusalText(code, 'an unknown sentence'));
        assert.deepEqual(
          texts.filter((text) => /^An unknown sentence|undefined/.test(text)),
          [],
        );
        assert.equal(new Set(texts).size, texts.length, 'two codes have one text');
      });
    });
  }

  for (const file of sources) {
    it(`has every sentence of ${file} that a form can get`, () => {
      const unknown = here('de', () => refusalText('conflict', 'x')).replace('X.)', '');
      const missing = refusalsIn(file).filter((message) => {
        const own = message.replace(/^\/?(?:(email|code|slug|types|receiverAddress) (?=(must|is)\b)|x (?=must\b))/, '');
        return here('de', () => refusalText('conflict', own)).startsWith(unknown);
      });
      assert.deepEqual(missing, []);
    });
  }

  it('names the field, keeps values, and keeps the English detail of an unknown sentence', () => {
    const refused = (language: Language, message: string) => here(language, () => refusalText('conflict', message));
    assert.equal(
      here('de', () => refusalText('invalidRequest', '/name must be 1 to 80 visible characters on one line', 'name')),
      'Name: Müssen 1 bis 80 sichtbare Zeichen in einer Zeile sein.',
    );
    assert.equal(
      refused('zh', 'this person is invited as read-only: cancel that invitation first'),
      '此人已受邀，角色为只读：请先取消该邀请。',
    );
    assert.equal(refused('es', 'the moon is full'), 'No es posible en el estado actual. (The moon is full.)');
    assert.equal(refused('en', 'the moon is full'), 'The moon is full.');
  });

  it('stays linear for a hostile sentence, and never takes places of a value for its own', () => {
    const hostile = `The site ${'cannot be allowed: state it like '.repeat(20_000)}`;
    assert.equal(
      here('de', () => phrased(refusalPhrases, hostile)),
      null,
    );
    assert.equal(
      here('de', () => phrased(refusalPhrases, 'chain {token} has no {chain}')),
      'Chain {token} hat kein {chain}.',
    );
  });

  it('translates the errors of a refused form beside their fields', () => {
    const errors = [
      { pointer: '/email', message: 'email must be an e-mail address' },
      { pointer: '/role', message: 'must be one of the list' },
    ];
    const error = { code: 'invalidRequest', message: 'wrong', errors, headers: {} } as unknown as Parameters<
      typeof refusedForm
    >[1];
    assert.deepEqual(here('ar', () => refusedForm({}, error, ['email', 'role'])).errors, {
      email: 'البريد الإلكتروني: يجب أن يكون عنوان بريد إلكتروني.',
      role: 'يجب أن يكون من القائمة.',
    });
    assert.deepEqual(refusedForm({}, error, ['email', 'role']).errors, {
      email: 'E-mail must be an e-mail address.',
      role: 'This must be one of the list.',
    });
  });
});
