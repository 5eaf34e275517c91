import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { signWebhook } from '../../commands/sendWebhook.ts';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { type Case, isInstalled, languages, verdicts } from './snippets.ts';

const page = readFileSync(new URL('../../docs/integrate/webhooks.md', import.meta.url), 'utf8');
const vector = page.split('```text\n')[1] ?? assert.fail('the page has no vector');
const given = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(vector)?.[1] ?? assert.fail(name);

const [secret, timestamp, signature, standard] = ['secret', 'timestamp', 'signature', 'standard'].map(given) as [
  string,
  string,
  string,
  string,
];
const body = Buffer.from(given('body'), 'utf8');
const { event_id: deliveryId } = JSON.parse(body.toString()) as { event_id: string };
const at_ms = Number(timestamp);
const tolerance_ms = 5 * 60_000;

describe('docs/integrate/webhooks.md', () => {
  it('has a test vector that the service signs the same', () => {
    const signed = signWebhook({ deliveryId, body, secret }, at_ms);
    assert.deepEqual([signed.signature, signed.standardSignature], [signature, standard]);
    assert.equal(given('whsec'), `whsec_${Buffer.from(secret).toString('base64')}`);
    assert.equal(verifyWebhook({ timestamp, signature }, body, [secret], at_ms), 'valid');
  });

  for (const language of languages) {
    it(`has a receiver in ${language.name} that accepts the vector in both schemes and nothing similar`, function () {
      const code = new RegExp(`\`\`\`${language.fence}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
      assert.ok(code, `the page has no code in ${language.name}`);
      // Runs where its interpreter exists; otherwise it is pending.
      if (!isInstalled(language)) this.skip();
      const answered = verdicts(language, code, cases);
      assert.equal(answered.length, cases.length);
      for (const [n, { what, scheme, genuine }] of cases.entries()) {
        assert.equal(answered[n], genuine, `${scheme}: ${what}`);
      }
    });
  }
});

const schemes = {
  service: { 'x-service-timestamp': timestamp, 'x-service-signature': signature },
  standard: {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(at_ms / 1_000),
    'webhook-signature': standard,
  },
} as const;

const cases: readonly Case[] = (['service', 'standard'] as const).flatMap((scheme) => {
  const headers: Readonly<Record<string, string>> = schemes[scheme];
  const [stamp, signed] =
    scheme === 'service' ? ['x-service-timestamp', 'x-service-signature'] : ['webhook-timestamp', 'webhook-signature'];
  const one = (
    what: string,
    genuine: boolean,
    more: Partial<Omit<Case, 'body'>> & { readonly body?: Buffer },
  ): Case => ({
    what,
    scheme,
    headers,
    secrets: [secret],
    now_ms: at_ms,
    genuine,
    ...more,
    body: (more.body ?? body).toString('base64'),
  });
  const believed = [0, -tolerance_ms, tolerance_ms].map((away_ms) =>
    one(`${away_ms} ms away`, true, { now_ms: at_ms + away_ms }),
  );
  const old = '0'.repeat(64);
  const bent = (what: string, changed: Readonly<Record<string, string>>) =>
    one(what, false, { headers: { ...headers, ...changed } });
  return [
    ...believed,
    one('two secrets while rotating', true, { secrets: [old, secret] }),
    one('too late', false, { now_ms: at_ms + tolerance_ms + 1_000 }),
    one('too early', false, { now_ms: at_ms - tolerance_ms - 1_000 }),
    one('another secret', false, { secrets: [old] }),
    one('no secret', false, { secrets: [] }),
    one('a line break more', false, { body: Buffer.concat([body, Buffer.from('\n')]) }),
    one('an empty body', false, { body: Buffer.alloc(0) }),
    one('no headers', false, { headers: {} }),
    bent('another timestamp', { [stamp as string]: String(Number(headers[stamp as string]) + 1) }),
    bent('a timestamp that is no number', { [stamp as string]: 'now' }),
    bent('a timestamp with a sign', { [stamp as string]: `+${headers[stamp as string]}` }),
    bent('a timestamp without end', { [stamp as string]: '9'.repeat(400) }),
    bent('a timestamp in other digits', { [stamp as string]: '١٧٩٥٢٥١٦٠٠' }),
    bent('no signature', { [signed as string]: '' }),
    bent('half a signature', { [signed as string]: headers[signed as string]?.slice(0, 30) ?? '' }),
    bent('a signature in capitals', { [signed as string]: headers[signed as string]?.toUpperCase() ?? '' }),
    bent('a signature beyond ASCII', { [signed as string]: `${headers[signed as string]?.slice(0, -1)}é` }),
    ...(scheme === 'standard' ? [bent('another id', { 'webhook-id': 'other' })] : []),
  ];
});
