import type { Decision } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { embeddingSitesMax, setEmbeddingSites } from '../../domain/merchant/settings.ts';
import type { MerchantState } from '../../domain/merchant/state.ts';
import { given, registered } from '../support/bakery.ts';

const set =
  (sites: readonly string[], local = false) =>
  (state: MerchantState): Decision<MerchantEvent> =>
    setEmbeddingSites(state, { sites, local });
const allowed = (...sites: string[]): MerchantEvent => ({ type: 'EmbeddingSitesSet', data: { sites } });

describe('sites that may show an app’s payment pages', () => {
  it('are spelled as browsers spell origins, each once, in one order', () => {
    given([registered])
      .when(
        set([
          'HTTPS://Shop.Example:443/',
          'https://shop.example',
          'https://bücher.example:8443',
          'https://a-1.shop.example',
        ]),
      )
      .then([allowed('https://a-1.shop.example', 'https://shop.example', 'https://xn--bcher-kva.example:8443')]);
  });

  it('are replaced as a whole; the same list again changes nothing', () => {
    const old = allowed('https://a.example', 'https://b.example');
    given([registered, old])
      .when(set(['https://B.example', 'https://a.example/']))
      .thenNothing();
    given([registered, old])
      .when(set(['https://c.example']))
      .then([allowed('https://c.example')]);
    given([registered, old]).when(set([])).then([allowed()]);
    given([registered]).when(set([])).thenNothing();
  });

  it('include this machine only in a sandbox', () => {
    const sites = ['http://127.0.0.1:4010', 'http://localhost:4010'];
    given([registered])
      .when(set(sites, true))
      .then([allowed(...sites)]);
    for (const site of sites)
      given([registered])
        .when(set([site]))
        .thenRefused('invalidRequest', /cannot be allowed/);
  });

  const bad: Readonly<Record<string, readonly string[]>> = {
    'without TLS': ['http://shop.example', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example'],
    'that are more than one': ['https://*.shop.example', 'https://*', '*', 'https:', "'self'", "'none'", 'https://'],
    'that would write into the header': [
      'https://a.example;script-src',
      'https://a.example,',
      "https://a.example'",
      'https://a.example\r\nX: y',
      'https://a.example https://b.example',
      'https://a.example\u00a0b',
    ],
    'that are more than an origin': [
      'https://shop.example/pay',
      'https://shop.example?x',
      'https://shop.example#x',
      'https://user@shop.example',
      'https://shop.example@evil.example',
      'https:\\\\shop.example',
      'https://shop.example\\@evil.example',
      'https:/shop.example',
      '//shop.example',
      'shop.example',
    ],
    'of other kinds': [
      'null',
      'about:blank',
      'data:text/html,x',
      'file:///x',
      'blob:https://shop.example/x',
      'javascript:alert(1)',
    ],
    'that are addresses': [
      'https://127.0.0.1',
      'https://[::1]',
      'https://2130706433',
      'https://0x7f.1',
      'http://[::1]:80',
    ],
    'that no name can be': [
      'https://-a.example',
      'https://a..example',
      'https://shop.example.',
      `https://${'a'.repeat(64)}.example`,
      'https://a_b.example',
      'https://shop.example:99999',
      'https://a%2eexample',
      '',
    ],
    'without end': [`https://${'a.'.repeat(5_000)}example`],
  };
  for (const [what, sites] of Object.entries(bad)) {
    it(`are not ${what}`, () => {
      for (const site of sites)
        given([registered])
          .when(set(['https://good.example', site], true))
          .thenRefused('invalidRequest', /^\/sites\/1 cannot be allowed/);
    });
  }

  it(`are ${embeddingSitesMax} at most`, () => {
    const many = Array.from({ length: embeddingSitesMax + 1 }, (_, n) => `https://shop${n}.example`);
    given([registered])
      .when(set(many))
      .thenRefused('invalidRequest', /at most/);
    given([registered])
      .when(set(many.slice(1)))
      .then([allowed(...many.slice(1).toSorted())]);
  });

  it('belong to existing apps', () => {
    given([])
      .when(set(['https://a.example']))
      .thenRefused('illegalStep');
  });
});
