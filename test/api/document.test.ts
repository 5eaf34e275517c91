import assert from 'node:assert/strict';
import { chainIds } from '../../domain/chains.ts';
import { goodRequest, startWorld, type World } from './world.ts';

type Json = Readonly<Record<string, unknown>>;

/** Iterates over every object of a document with its path. */
function* objectsIn(value: unknown, path = ''): Generator<readonly [path: string, object: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Json];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}/${key}`);
}

/** Returns the paths of the objects for which `rule` answers true: they break the rule. */
const broken = (document: Json, rule: (object: Json, path: string) => boolean): readonly string[] =>
  [...objectsIn(document)].flatMap(([path, object]) => (rule(object, path) ? [path] : []));

const isNull = (schema: unknown): boolean => (schema as Json)?.['type'] === 'null';

/** Faults that eight generators for seven languages reported, and properties that they need. */
describe('HTTP: the OpenAPI document as generators read it', () => {
  let world: World;
  let document: Json;
  let old: Json;
  before(async () => {
    world = await startWorld();
    document = (await world.call('GET', '/openapi.json')).body;
    old = (await world.call('GET', '/openapi-3.0.json')).body;
  });
  after(() => world.stop());

  const operations = (): readonly Json[] =>
    Object.values(document['paths'] as Json).flatMap((item) => Object.values(item as Json) as Json[]);
  const schemas = () => (document['components'] as Json)['schemas'] as Record<string, Json>;

  it('has patterns that RE2, Rust and Python compile as JavaScript does', () => {
    const patterns = [...objectsIn(document)].flatMap(([, { pattern }]) =>
      typeof pattern === 'string' ? [pattern] : [],
    );
    assert.ok(patterns.length > 10);
    for (const pattern of patterns) {
      assert.doesNotMatch(pattern, /\\[uUdDwWsSbB]|\(\?|\\p|\\[1-9]/, pattern);
      assert.doesNotThrow(() => new RegExp(pattern, 'u'));
    }
    assert.ok(patterns.includes('^[^\\x00-\\x1f\\x7f]*$'));
  });

  it('gives times no length, and maps no patternProperties', () => {
    assert.deepEqual(
      broken(document, ({ format, maxLength }) => format === 'date-time' && maxLength !== undefined),
      [],
    );
    assert.deepEqual(
      broken(document, (object) => 'patternProperties' in object),
      [],
    );
  });

  it('has no keyword of our own', () => {
    for (const word of ['wellFormed', 'shownAs', 'alsoShown', 'unpublished', '~kind']) {
      assert.deepEqual(
        broken(document, (object) => word in object),
        [],
      );
    }
  });

  it('has one schema for a payment, which every answer with a payment references', () => {
    const payment = { $ref: '#/components/schemas/PaymentResponse' };
    const answersOf = (id: string, status: number) => {
      const operation = operations().find(({ operationId }) => operationId === id) as Json;
      const answer = (operation['responses'] as Record<string, Json>)[status] as Json;
      return ((answer['content'] as Json)['application/json'] as Json)['schema'];
    };
    assert.deepEqual(answersOf('addPayment', 201), payment);
    assert.deepEqual(answersOf('addPayment', 200), payment);
    assert.deepEqual(answersOf('getPayment', 200), payment);
    assert.deepEqual(answersOf('getPaymentByOrder', 200), payment);
    assert.deepEqual(schemas()['PaymentListResponse']?.['properties'], {
      data: { type: 'array', items: payment },
      hasMore: { type: 'boolean' },
      nextCursor: { anyOf: [{ $ref: '#/components/schemas/PageCursor' }, { type: 'null' }] },
    });
    const { properties, required } = schemas()['PaymentResponse'] as { properties: Json; required: string[] };
    assert.deepEqual(required.toSorted(), Object.keys(properties).toSorted(), 'every field is always there');
    assert.deepEqual((properties['webhookSecret'] as Json)['type'], ['string', 'null']);
  });

  it('has no unions but those with null', () => {
    assert.deepEqual(
      broken(document, (object) => 'oneOf' in object || 'allOf' in object),
      [],
    );
    assert.deepEqual(
      broken(document, ({ anyOf }) => {
        if (anyOf === undefined) return false;
        const [named, nothing, ...more] = anyOf as readonly Json[];
        return !named?.['$ref'] || !isNull(nothing) || more.length > 0;
      }),
      [],
    );
    assert.deepEqual(
      broken(document, ({ type }) => Array.isArray(type) && (type.length !== 2 || type[1] !== 'null')),
      [],
    );
    const alone = (schema: Json, path: string) => isNull(schema) && !/\/anyOf\/1$/.test(path);
    assert.deepEqual(broken(document, alone), [], 'null alone');
  });

  it('names every enum, every object and every text that occurs often, and keeps null out of them', () => {
    const isSchema = (path: string) =>
      !/\/(examples|if|then|else)\b/.test(path) && !/^\/webhooks|^\/components\/headers/.test(path);
    const named = (path: string) => /^\/components\/schemas\/\w+$/.test(path);
    assert.deepEqual(
      broken(document, ({ enum: values }, path) => values !== undefined && isSchema(path) && !named(path)),
      [],
    );
    assert.deepEqual(
      broken(document, ({ enum: values }) => Array.isArray(values) && values.includes(null)),
      [],
    );
    assert.deepEqual(
      broken(
        document,
        ({ type, properties }, path) => type === 'object' && properties !== undefined && isSchema(path) && !named(path),
      ),
      [],
    );
    for (const name of ['Merchant', 'Metadata', 'Transaction', 'WebhookDelivery', 'FieldError', 'ErrorCode', 'Decimal'])
      assert.ok(schemas()[name], name);
  });

  it('names the chains in code, and reads and writes them in the same form', () => {
    assert.deepEqual(schemas()['ChainId']?.['enum'], chainIds.map(String));
    assert.deepEqual(schemas()['ChainId']?.['x-enum-varnames'], [
      'BASE',
      'BNB_CHAIN',
      'ETHEREUM',
      'ARBITRUM',
      'POLYGON',
      'SOLANA',
      'STELLAR',
    ]);
    const { properties } = schemas()['SourceRequest'] as { properties: Json };
    assert.equal((properties['chainId'] as Json)['$ref'], '#/components/schemas/ChainId');
  });

  it('keeps webhooks apart from callable operations', () => {
    const tagsOf = (items: unknown) =>
      Object.values(items as Json).flatMap((item) => (Object.values(item as Json)[0] as Json)['tags']);
    assert.deepEqual([...new Set(tagsOf(document['webhooks']))], ['Webhooks']);
    assert.ok(!tagsOf(document['paths']).includes('Webhooks'));
  });

  it('lists the possible answers to any request, and their headers', () => {
    for (const { operationId, responses } of operations()) {
      const { '408': slow, '431': large, '500': failed, ...own } = responses as Record<string, Json>;
      assert.deepEqual(slow, { $ref: '#/components/responses/TooSlow' }, String(operationId));
      assert.deepEqual(large, { $ref: '#/components/responses/HeadersTooLarge' }, String(operationId));
      assert.deepEqual(failed, { $ref: '#/components/responses/Failed' }, String(operationId));
      for (const [status, { headers }] of Object.entries(own)) {
        assert.ok((headers as Json)['X-Request-Id'], `${operationId} ${status}`);
        assert.equal('Retry-After' in (headers as Json), ['429', '503'].includes(status), `${operationId} ${status}`);
      }
    }
    const created = operations().find(({ operationId }) => operationId === 'addPayment')?.['responses'] as Record<
      string,
      Json
    >;
    const headersOf = (status: number) => Object.keys((created[status]?.['headers'] ?? {}) as Json);
    assert.deepEqual(headersOf(201), ['X-Request-Id', 'Location']);
    assert.deepEqual(headersOf(200), ['X-Request-Id', 'Idempotent-Replayed']);
  });

  it('has errors as JSON and as problem details, of one schema', () => {
    const shared = (document['components'] as Json)['responses'] as Record<string, Json>;
    const errors = operations().flatMap(({ operationId, responses }) =>
      Object.entries(responses as Record<string, Json>).filter(
        ([status, { $ref }]) => Number(status) >= 400 && !$ref && !(operationId === 'getReadiness' && status === '503'),
      ),
    );
    assert.ok(errors.length > 100);
    const json = { schema: { $ref: '#/components/schemas/ErrorResponse' } };
    for (const [status, { content }] of [...errors, ...Object.entries(shared)])
      assert.deepEqual(content, { 'application/json': json, 'application/problem+json': json }, status);
  });

  it('answers with separate statuses, without wildcards', () => {
    const statuses = [document['paths'], document['webhooks']].flatMap((items) =>
      Object.values(items as Json).flatMap((item) =>
        Object.values(item as Json).flatMap((operation) => Object.keys((operation as Json)['responses'] as Json)),
      ),
    );
    assert.deepEqual(
      statuses.filter((status) => !/^([1-5][0-9]{2}|default)$/.test(status)),
      [],
    );
  });

  it('declares its tags and a contact, and describes every operation', () => {
    const declared = (document['tags'] as readonly Json[]).map(({ name }) => name);
    for (const { operationId, tags, summary, description } of operations()) {
      for (const tag of tags as readonly string[]) assert.ok(declared.includes(tag), `${operationId}: ${tag}`);
      assert.ok(summary && description, `${operationId} has no description`);
    }
    const { contact } = document['info'] as { readonly contact: Json };
    assert.deepEqual([contact['name'], contact['url']], ['Guides and reference', `${world.url}/docs`]);
  });

  it('has no two names that a generator would give one type', () => {
    const { schemas, securitySchemes, responses } = document['components'] as Record<string, Json>;
    const all = [document['paths'], document['webhooks']].flatMap((items) =>
      Object.values(items as Json).flatMap((item) => Object.values(item as Json) as Json[]),
    );
    const parameters = new Set(all.flatMap((each) => (each['parameters'] as readonly Json[]).map(({ name }) => name)));
    const suffixes = ['', 'Response', 'Request', 'Params', 'Body'];
    const names = [
      ...[schemas, securitySchemes, responses].flatMap((each) => Object.keys(each as Json)),
      ...[...parameters].map(String),
      ...all.flatMap(({ operationId }) => suffixes.map((suffix) => `${operationId}${suffix}`)),
    ].map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  it('offers no field of answers as input, though a request may send it', async () => {
    const fieldsOf = (name: string) => Object.keys(schemas()[name]?.['properties'] as Json);
    assert.deepEqual(fieldsOf('CreatePaymentRequest'), [
      ...['appId', 'orderId', 'type', 'intent', 'display', 'metadata', 'source', 'destination', 'payFrom'],
      'expiresInSeconds',
    ]);
    assert.deepEqual(fieldsOf('PaymentRequest'), fieldsOf('CreatePaymentRequest'));
    assert.deepEqual(fieldsOf('SourceRequest'), ['chainId', 'tokenSymbol', 'tokenAddress', 'amount', 'senderAddress']);
    assert.ok(!fieldsOf('DestinationRequest').includes('txHash'));
    assert.ok(!fieldsOf('PayFromRequest').includes('amount'));
    const created = await world.call('POST', '/payment-api/payments', {
      headers: world.keys.wallet,
      body: goodRequest(),
    });
    const { metadata: _, ...answer } = created.body;
    const again = await world.call('POST', '/payment-api/payments', { headers: world.keys.wallet, body: answer });
    assert.equal(again.status, 201);
  });

  it('names the address that the operator sets, or else where the service listens', async () => {
    assert.deepEqual(document['servers'], [{ url: world.url }]);
    const behind = await startWorld({ publicUrl: () => 'https://pay.example.com/api' });
    try {
      const { body } = await behind.call('GET', '/openapi.json');
      assert.deepEqual(body.servers, [{ url: 'https://pay.example.com/api' }]);
    } finally {
      await behind.stop();
    }
  });

  it('exists in OpenAPI 3.0.3 as well: the same operations and schemas', () => {
    assert.equal(old['openapi'], '3.0.3');
    assert.deepEqual(Object.keys(old['paths'] as Json), Object.keys(document['paths'] as Json));
    assert.deepEqual(Object.keys((old['components'] as Json)['schemas'] as Json), Object.keys(schemas()));
    const newer = ['if', 'then', 'else', 'propertyNames', 'const', 'anyOf', 'examples', 'webhooks', 'identifier'];
    for (const word of newer) {
      assert.deepEqual(
        broken(old, (object, path) => word in object && !/\/(properties|example)$/.test(path)),
        [],
      );
    }
    assert.deepEqual(
      broken(old, ({ type }, path) => Array.isArray(type) || (type === 'null' && !path.endsWith('/properties'))),
      [],
    );
    assert.deepEqual(
      broken(old, (object) => '$ref' in object && Object.keys(object).length > 1),
      [],
      'nothing stands beside a $ref',
    );
  });
});
