import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { laterWebhookEventTypes } from '../../domain/webhook.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { startWorld, type World } from './world.ts';

const redocly = join(import.meta.dirname, '../../node_modules/.bin/redocly');

/** Service reference 2.9. */
const names = [
  'PaymentRequest',
  'WebhookEventType',
  'CreatePaymentRequest',
  'WebhookEvent',
  'PaymentUpdateRequest',
  'PaymentResponse',
  'PaymentListResponse',
  'DisplayInfo',
  'TransactionsResponse',
  'SourceRequest',
  'SourceResponse',
  'DestinationRequest',
  'DestinationResponse',
  'ErrorResponse',
  'ChainId',
  'TokenSymbol',
  'PaymentStatus',
  'PaymentErrorCode',
  'FeeType',
];

describe('HTTP: the OpenAPI document', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('names every schema of the service reference', async () => {
    const { body } = await world.call('GET', '/openapi.json');
    assert.equal(body.openapi, '3.1.0');
    assert.deepEqual(
      names.filter((name) => !(name in body.components.schemas)),
      [],
    );
    const reference = ['payment_payin_completed', 'payment_payout_completed'];
    assert.deepEqual(Object.keys(body.webhooks), [...reference, ...laterWebhookEventTypes, 'webhook_test']);
  });

  async function lint(path: string): Promise<readonly string[]> {
    const directory = temporaryDirectory();
    const file = join(directory, 'openapi.json');
    await writeFile(file, (await world.call('GET', path)).text);
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };
    const { stdout } = await promisify(execFile)(redocly, ['lint', file, '--format=json'], { env, cwd: directory });
    const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    return problems.map(({ message }: { message: string }) => message);
  }

  it('has no errors and no surprises for a linter', async () => {
    // FeeType is documented for the sake of the reference. A payment returns its fee as one amount.
    assert.deepEqual(await lint('/openapi.json'), ['Component: "FeeType" is never used.']);
  });

  it('has none in OpenAPI 3.0 either, which supports no webhooks and no identifier of a licence', async () => {
    assert.deepEqual((await lint('/openapi-3.0.json')).toSorted(), [
      'Component: "FeeType" is never used.',
      'Component: "WebhookEvent" is never used.',
      'License object should contain `url` field.',
    ]);
  });

  it('states for each operation its needs and its answers', async () => {
    const { body } = await world.call('GET', '/openapi.json');
    const operation = body.paths['/merchant-api/me/stats'].get;
    assert.deepEqual(operation.security, [{ ApiKey: [] }, { BearerKey: [] }, { SignedIn: [] }]);
    assert.deepEqual(Object.keys(operation.responses), ['200', '400', '401', '403', '408', '429', '431', '500', '503']);
    assert.deepEqual(body.paths['/payment-api/payments'].post.security[0], {});
  });

  it('is readable at /docs and can be tried at /docs/try, with files of this server only', async () => {
    for (const from of ['/docs', '/docs/try']) {
      const page = await world.call('GET', from);
      const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => String(path));
      const files = links.filter((path) => !path.startsWith('#'));
      assert.ok(files.every((path) => path.startsWith('/') && !path.startsWith('//')));
      for (const path of new Set(files)) assert.equal((await world.call('GET', path)).status, 200, path);
      assert.doesNotMatch(page.text, /<script>|<style|style=|onload=/);
    }
  });

  it('leads from /docs to the pictures, which are SVG with a separate policy', async () => {
    assert.match((await world.call('GET', '/docs')).text, /href="\/docs\/guides\/pictures"/);
    const page = await world.call('GET', '/docs/guides/pictures');
    const pictures = [...page.text.matchAll(/<img src="(\/docs\/images\/[^"]+)" alt="[^"]+">/g)].map(([, path]) =>
      String(path),
    );
    assert.equal(pictures.length, 4);
    for (const path of pictures) {
      const { status, headers, text } = await world.call('GET', path);
      assert.equal(status, 200, path);
      assert.match(String(headers['content-type']), /^image\/svg\+xml/);
      assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'unsafe-inline'/);
      assert.match(text, /^<svg [\s\S]*<\/svg>\n$/);
    }
    assert.equal((await world.call('GET', '/docs/images/payment-page.png')).status, 404);
  });
});
