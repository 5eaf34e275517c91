import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../domain/decider.ts';
import { bounced, confirmed, refundAddressSet } from '../support/payments.ts';
import { casesOfRound } from '../support/properties.ts';
import { isFull } from '../support/suite.ts';
import type { Answered } from './client.ts';
import { type Schema, type SchemaValues, schemaValues } from './schemaValues.ts';
import { goodRequest, paymentSecrets, receiver, startWorld, type World } from './world.ts';

/** Generated requests per operation. */
const runs = isFull ? 400 : 40;
/** About one in 90 generated refund orders is accepted, so one round may have none. */
const roundsMax = 4_000 / runs;

const likely = {
  appId: ['wallet_demo'],
  chainId: ['8453', '1', '56'],
  tokenSymbol: ['USDC'],
  tokenAddress: [null],
  amount: ['10.00', '7', null],
  receiverAddress: [receiver],
  senderAddress: [receiver, null],
  receiverMemo: [null],
  intent: [null],
  txHash: [`0x${'ab'.repeat(32)}`],
  fromAddress: [receiver],
  account: [receiver],
  from_address: [receiver],
  to_handle: ['demo'],
  timestamp: [1_795_251_600_000],
  amount_local: [0.85, null],
  currency_local: ['EUR', null],
  email: ['ada@shop.example'],
  code: ['000002'],
  supportContact: ['help@shop.example'],
  returnUrlTemplate: ['https://shop.example/thanks/{orderId}'],
  colour: ['#aabbcc'],
  webhookUrl: ['https://shop.example/hooks'],
  url: ['https://books.example/paid'],
  expiresAt: [null],
};

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly body: Schema | undefined;
  /** True if the operation accepts no key, only the token of a signed-in person. */
  readonly signedIn: boolean;
  readonly query: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[];
}

/** Returns the routes of the document, new ones included. */
function operationsOf(document: Schema): readonly Operation[] {
  return Object.entries(document['paths'] as Record<string, Record<string, Schema>>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const { requestBody, parameters, operationId, security } = operation as {
        security: readonly object[];
        /** No JSON if the body is a file. */
        requestBody?: { content: { 'application/json'?: { schema: Schema } } };
        parameters: readonly (Operation['query'][number] & { in: string })[];
        operationId: string;
      };
      const body = requestBody?.content['application/json']?.schema;
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        body,
        signedIn: security.length > 0 && security.every((each) => 'SignedIn' in each),
        query: parameters.filter((each) => each.in === 'query'),
      };
    }),
  );
}

/** The client checks status, body and headers of every answer against the document. */
function mayBeRefused(path: string): string {
  if (path.endsWith('.csv')) return '/period';
  return path.endsWith('/payments/{id}') ? '/asOf' : '/cursor';
}

describe('HTTP: requests made from the OpenAPI document', () => {
  let world: World;
  let operations: readonly Operation[];
  let values: SchemaValues;
  let place: (path: string) => string;

  before(async () => {
    world = await startWorld();
    const { body: document } = await world.call('GET', '/openapi.json');
    operations = operationsOf(document);
    values = schemaValues(document, likely);
  });
  after(() => world.stop());

  /** Makes a world for each operation: streams stay short, and each decision reads its whole stream. */
  async function renew(): Promise<void> {
    await world.stop();
    world = await startWorld();
    const { body } = await world.call('POST', '/payment-api', {
      headers: world.keys.wallet,
      body: goodRequest({ orderId: 'known' }),
    });
    const key = await world.people.merchants.issueKey(
      'wallet_demo',
      { scope: 'orders', name: 'known', expiresAt: null },
      { cause: 'operator:spec' },
    );
    const paidAt = { url: 'https://books.example/first', types: ['payment_payin_completed'] };
    const endpoint = await world.people.merchants.addEndpoint('wallet_demo', paidAt, { cause: 'operator:spec' });
    const { endpointId } = isRefusal(endpoint) ? assert.fail(endpoint.message) : endpoint;
    const { team } = world.people;
    const bob = { email: 'bob@people.example', role: 'developer' } as const;
    assert.equal(isRefusal(await team.invite('wallet_demo', bob, { cause: 'developer:ann' })), false);
    assert.equal(isRefusal(await team.accept('wallet_demo', { cause: 'developer:bob' })), false);
    const keyId = isRefusal(key) ? assert.fail(key.message) : key.keyId;
    const held = await world.call('POST', '/payment-api/payments', {
      headers: world.keys.wallet,
      body: goodRequest({ orderId: 'held' }),
    });
    await world.happen(held.body.id, [confirmed(), bounced('amountTooLow', '10.01'), refundAddressSet()]);
    place = (path) =>
      path
        .replace('{id}/refunds', `${held.body.id}/refunds`)
        .replace('/endpoints/{id}', `/endpoints/${endpointId}`)
        .replace('/keys/{id}', `/keys/${keyId}`)
        .replace('/members/{id}', '/members/bob')
        .replace('{id}', body.id)
        .replace('{secret}', paymentSecrets.secretOf(body.id))
        .replace('{appId}', 'wallet_demo')
        .replace('{orderId}', 'known');
  }

  const accepted = ({ status }: Answered) => status >= 200 && status < 300;

  function refusedWithPointer({ status, body, text }: Answered): void {
    assert.ok(status >= 400 && status < 500, text);
    assert.equal(typeof body.errors?.[0]?.pointer, 'string', text);
  }

  /** Only apps with a settlement wallet have links. */
  const ownerFor = (path: string) => world.owners[path.includes('/links') ? 'merchant' : 'wallet'];
  const send = ({ method, path, signedIn }: Operation, body: unknown): Promise<Answered> =>
    world.call(method, place(path), {
      headers: { ...(signedIn ? ownerFor(path) : world.keys.walletAdmin), 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('accepts bodies that the schema allows, or refuses them with a documented code and a pointer', async () => {
    for (const operation of operations.filter(({ body }) => body)) {
      await renew();
      const { body, operationId } = operation;
      let good = 0;
      for (let round = 0; round < roundsMax && good === 0; round++)
        await fc.assert(
          fc.asyncProperty(values.allowed(body as Schema), async (sent) => {
            const answered = await send(operation, sent);
            if (accepted(answered)) good += 1;
            else refusedWithPointer(answered);
          }),
          { numRuns: runs, ...casesOfRound(round) },
        );
      assert.ok(good > 0, `${operationId}: nothing was accepted, so this says nothing`);
    }
  });

  it('refuses bodies that the schema forbids with 400 and a pointer', async () => {
    for (const operation of operations.filter(({ body }) => body)) {
      await renew();
      await fc.assert(
        fc.asyncProperty(values.forbidden(operation.body as Schema), async (sent) => {
          const answered = await send(operation, sent);
          assert.deepEqual([answered.status, answered.body.error], [400, 'invalidRequest'], JSON.stringify(sent));
          refusedWithPointer(answered);
        }),
        { numRuns: runs },
      );
    }
  });

  it('accepts parameters that the schema allows, and refuses others with 400 and a pointer', async () => {
    const texts = fc.constantFrom(
      '',
      ' ',
      '0',
      '101',
      '1.5',
      'x',
      'x'.repeat(130),
      '\u0000',
      '2026-13-01T00:00:00Z',
      'null',
    );
    for (const { method, path, query, signedIn, body } of operations.filter(({ query }) => query.length > 0)) {
      await renew();
      const headers = signedIn ? world.owners.wallet : world.keys.walletAdmin;
      const fields = query.map(({ name, required, schema }) => {
        const read = (text: string) => (schema['type'] === 'integer' && /^[0-9]+$/.test(text) ? Number(text) : text);
        const wrong = texts.filter((text) => values.check(schema)(read(text)) === false);
        const some = fc.oneof(
          { weight: 4, arbitrary: values.allowed(schema).map((value) => ({ name, text: String(value), good: true })) },
          { weight: 1, arbitrary: wrong.map((text) => ({ name, text, good: false })) },
        );
        return required ? some : fc.option(some);
      });
      await fc.assert(
        fc.asyncProperty(fc.tuple(...fields), async (chosen) => {
          const sent = chosen.filter((each) => each !== null);
          const search = new URLSearchParams(
            sent.map(({ name, text }): [string, string] => [name, text.toWellFormed()]),
          );
          const sending = body ? { headers, body: goodRequest() } : { headers };
          const answered = await world.call(method, `${place(path)}?${search}`, sending);
          // A well-formed cursor may be one that no answer contained; the period of an export is a separate field; a
          // time may be before the payment.
          if (accepted(answered))
            assert.ok(
              sent.every(({ good }) => good),
              String(search),
            );
          else if (sent.every(({ good }) => good))
            assert.equal(answered.body.errors[0].pointer, mayBeRefused(path), answered.text);
          else assert.deepEqual([answered.status, answered.body.error], [400, 'invalidRequest'], answered.text);
        }),
        { numRuns: runs },
      );
    }
  });
});
