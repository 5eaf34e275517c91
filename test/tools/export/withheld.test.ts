import assert from 'node:assert/strict';
import { streams } from '../../../domain/streams.ts';
import { isWithheld, shownData } from '../../../tools/export/log.ts';
import { append, createWorld } from '../../support/histories.ts';

/** Names that resemble a secret but are none: public facts, and values without any use. */
const shown = new Set([
  // Transactions, blocks and texts on chains, and heads of the log, which are published.
  ...['hash', 'txHash', 'blockHash', 'headHash', 'publicKey', 'formerKey', 'formerSignature', 'hashes', 'txHashes'],
  // Names of keys.
  ...['keyId', 'formerKeyId', 'keySince', 'keyless', 'requestKey', 'allowedKeyless'],
  // Tokens and their addresses.
  ...['token', 'tokenSymbol', 'tokenAddress', 'wrongToken', 'tokens'],
  // Signatures of texts that are beside them, or are published.
  ...['signature', 'standardSignature', 'payoutReference', 'fingerprint'],
  // The hash of a transaction that is public on its chain.
  'burnHash',
]);
const suspicious = /secret|salt|cipher|hash|key|bytes|url|preview|token|password|signature|finger|code$/i;
const plainCodes = new Set(['code', 'statusCode']);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

function fieldsOf(schema: Schema): readonly string[] {
  const { properties = {}, items, anyOf = [], patternProperties = {} } = schema;
  const inner = [
    ...Object.values(properties),
    ...(items ? [items] : []),
    ...anyOf,
    ...Object.values(patternProperties),
  ];
  return [...Object.keys(properties), ...inner.flatMap(fieldsOf)];
}

describe('data that an export of events omits', () => {
  it('include every field that could open, derive or send something: a new one must be judged', () => {
    const unjudged = Object.values(streams).flatMap(({ schemas }) =>
      Object.entries(schemas as Readonly<Record<string, Schema>>).flatMap(([type, schema]) =>
        fieldsOf(schema)
          .filter((field) => suspicious.test(field) && !plainCodes.has(field))
          .filter((field) => !isWithheld(type, field) && !shown.has(field))
          .map((field) => `${type}.${field}`),
      ),
    );
    assert.deepEqual([...new Set(unjudged)], []);
  });

  it('are gone wherever they are, in events of today and of older versions', async () => {
    const world = createWorld();
    const secrets = ['5a17'.repeat(16), 'v1.sealed', 'beef'.repeat(16), 'https://shop.example/?token=7'];
    const [idSalt = '', ciphertext = '', hash = '', url = ''] = secrets;
    const fingerprint = `sha256:${'0'.repeat(64)}`;
    await append(
      world,
      'merchant-wallet_demo',
      [
        { type: 'MerchantRegistered', data: { appId: 'wallet_demo', idSalt, registeredAt: world.clock.now() } },
        { type: 'WebhookSecretRotated', data: { ciphertext, fingerprint } },
        { type: 'ApiKeyIssued', data: { keyId: 'k1', scope: 'full', hash, hint: 'pk_…abcd', name: null } },
        { type: 'WebhookUrlSet', data: { url } },
        { type: 'OfALaterVersion', data: { secret: idSalt } },
      ],
      1,
    );
    const told = (await world.store.read('merchant-wallet_demo')).map(shownData);
    for (const secret of secrets) assert.ok(!told.join().includes(secret), secret);
    assert.deepEqual(JSON.parse(told[2] ?? ''), {
      ...{ keyId: 'k1', scope: 'full', hint: 'pk_…abcd', name: null, expiresAt: null },
    });
    assert.equal(told[4], null);
  });
});
