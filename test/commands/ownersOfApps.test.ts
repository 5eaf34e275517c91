import assert from 'node:assert/strict';
import { eventCodec, verifyChain } from '../../commands/codec.ts';
import { createHandle, type Handle } from '../../commands/handle.ts';
import { createManageMerchant, type ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { hour_ms, type Instant, instant, plus } from '../../domain/time.ts';
import { randomIds } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryProfiles } from '../support/profiles.ts';

const appId = 'merchant_bakery';
const ada = { cause: 'developer:ada' } as const;
const eve = { cause: 'developer:eve' } as const;
const operator = { cause: 'operator:test' } as const;
const wallet = (digit: string) =>
  ({ chainId: 8453, tokenSymbol: 'USDC', receiverAddress: `0x${digit.repeat(40)}` }) as const;

interface Process {
  readonly handle: Handle;
  readonly merchants: ManageMerchant;
}

/** Several processes on one log and one Postgres. */
function world() {
  const store = memoryEventStore();
  const kept = memoryProfiles();
  let now = instant(0);
  const clock = { now: () => now, sleep: async () => {} };
  let crashAt = '';
  const crash = (point: string) => {
    if (point === crashAt) throw new Error(`killed at ${point}`);
  };
  const startProcess = (): Process => {
    const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec, crash });
    const merchants = createManageMerchant({
      handle,
      clock,
      ids: randomIds,
      newKey: newApiKey,
      revokedKeys: { add: async () => {}, unconfirmed: async () => [] },
      seal: (plain) => `sealed ${plain.length}`,
      canonicalAddress: (_chain, text) => text,
      canReceive: {},
      offers: ({ id }) => id !== 501,
      profiles: kept.profiles,
      readLogo: kept.readLogo,
      settlementCoolDown_ms: 48 * hour_ms,
      localSites: false,
      isAllowedTarget: () => true,
    });
    return { handle, merchants };
  };
  const events = () => store.read(`merchant-${appId}`);
  const types = async () => (await events()).map(({ type }) => type);
  const shown = async () => {
    const last = (await events()).findLast(({ type }) => type === 'ProfileSet')?.data as { digest: string };
    return JSON.parse(kept.contents.get(last.digest) ?? '{}');
  };
  return {
    ...startProcess(),
    startProcess,
    kept,
    events,
    types,
    shown,
    advance: (duration_ms: number): Instant => {
      now = plus(now, duration_ms);
      return now;
    },
    killAt: (point: string) => {
      crashAt = point;
    },
  };
}

function accepted<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) assert.fail(answer.message);
  return answer;
}
const refusal = (answer: object | Refusal) => (isRefusal(answer) ? answer.refused : 'accepted');

describe('a person’s app', () => {
  it('is prepared without a trace, and registered later with the prepared values', async () => {
    const { merchants, events } = world();
    const asked = { webhookUrl: 'HTTPS://Bakery.example', settlement: wallet('a') };
    const { webhookSecret, ...prepared } = accepted(await merchants.prepare(appId, asked));
    assert.deepEqual(await events(), []);
    assert.equal(JSON.stringify(prepared).includes(webhookSecret), false);
    const stored = JSON.parse(JSON.stringify(prepared));
    const registration = { ...stored, developerId: 'ada', name: 'Bakery' };
    const first = accepted(await merchants.register(appId, registration, ada));
    assert.deepEqual(
      [first.created, first.webhookUrl, first.webhookSecret, first.webhookSecretFingerprint],
      [true, 'https://bakery.example/', null, prepared.secret.fingerprint],
    );
    const again = accepted(await merchants.register(appId, registration, ada));
    assert.deepEqual([again.created, again.webhookSecretFingerprint], [false, prepared.secret.fingerprint]);
  });

  it('is not prepared or registered if it belongs to another person, or is invalid', async () => {
    const { merchants } = world();
    accepted(await merchants.register(appId, { developerId: 'ada' }, ada));
    assert.equal(refusal(await merchants.prepare(appId, { webhookUrl: null, settlement: null })), 'appIdTaken');
    assert.equal(refusal(await merchants.register(appId, { developerId: 'eve' }, eve)), 'appIdTaken');
    const bad = await merchants.prepare('shop', { webhookUrl: null, settlement: null });
    assert.equal(isRefusal(bad) && bad.pointer, '/appId');
    const solana = { ...wallet('a'), chainId: 501 } as const;
    const unpaid = await merchants.prepare('merchant_new', { webhookUrl: null, settlement: solana });
    assert.equal(isRefusal(unpaid) && unpaid.pointer, '/settlement/chainId');
  });

  it('is changed by that person alone, or the operator', async () => {
    const { merchants, types } = world();
    accepted(await merchants.register(appId, { developerId: 'ada' }, ada));
    const { keyId } = accepted(
      await merchants.issueKey(appId, { name: 'till', scope: 'orders', expiresAt: null }, ada),
    );
    const before = await types();
    const key = { name: 'eve', scope: 'admin', expiresAt: null } as const;
    for (const refused of [
      await merchants.setProfile(appId, { name: 'Eve' }, eve),
      await merchants.setLogo(appId, new Uint8Array(3), eve),
      await merchants.requestSettlement(appId, wallet('e'), eve),
      await merchants.cancelSettlement(appId, eve),
      await merchants.setWebhookUrl(appId, null, eve),
      await merchants.rotateSecret(appId, eve),
      await merchants.issueKey(appId, key, eve),
      await merchants.renameKey(appId, keyId, 'eve', eve),
      await merchants.revokeKey(appId, keyId, eve),
      await merchants.setOwner(appId, 'eve', eve),
    ])
      assert.equal(refusal(refused), 'forbidden');
    assert.deepEqual(await types(), before);
    accepted(await merchants.setOwner(appId, 'eve', operator));
    accepted(await merchants.rotateSecret(appId, eve));
    assert.equal(refusal(await merchants.rotateSecret(appId, ada)), 'forbidden');
  });

  it('waits for another wallet, which can be called off', async () => {
    const { merchants, advance, types } = world();
    accepted(await merchants.register(appId, { developerId: 'ada' }, ada));
    assert.equal(accepted(await merchants.requestSettlement(appId, wallet('a'), ada)).pending, null);
    const { pending } = accepted(await merchants.requestSettlement(appId, wallet('b'), ada));
    assert.equal(pending?.effectiveAt, instant(48 * hour_ms));
    accepted(await merchants.cancelSettlement(appId, ada));
    accepted(await merchants.requestSettlement(appId, wallet('b'), ada));
    advance(48 * hour_ms);
    assert.equal(refusal(await merchants.cancelSettlement(appId, ada)), 'conflict');
    assert.deepEqual((await types()).slice(2), [
      'SettlementWalletSet',
      'SettlementChangeRequested',
      'SettlementChangeCancelled',
      'SettlementChangeRequested',
    ]);
  });
});

describe('a profile', () => {
  const registered = async () => {
    const here = world();
    accepted(await here.merchants.register(appId, { developerId: 'ada', name: 'Bakery' }, ada));
    return here;
  };

  it('is kept beside the log, which knows its digest and which fields changed', async () => {
    const { merchants, events, shown, kept } = await registered();
    accepted(await merchants.setProfile(appId, { supportContact: 'help@bakery.example', name: 'Bakery' }, ada));
    accepted(await merchants.setLogo(appId, new Uint8Array([1, 2, 3]), ada));
    const [logo] = kept.logos.keys();
    const { salt, ...profile } = await shown();
    assert.match(salt, /^[0-9a-f]{64}$/);
    assert.deepEqual(profile, {
      name: 'Bakery',
      supportContact: 'help@bakery.example',
      returnUrlTemplate: null,
      colour: null,
      logo,
    });
    const changed = (await events()).flatMap(({ type, data }) =>
      type === 'ProfileSet' ? [(data as { changed: string[] }).changed] : [],
    );
    assert.deepEqual(changed, [['name'], ['supportContact'], ['logo']]);
    const log = JSON.stringify((await events()).map(({ data, metadata }) => [data, metadata]));
    for (const personal of ['Bakery', 'help@']) assert.ok(!log.includes(personal));
  });

  it('does not change when the content is the same', async () => {
    const { merchants, types } = await registered();
    const before = await types();
    assert.equal(accepted(await merchants.setProfile(appId, { name: 'Bakery', colour: null }, ada)).position, null);
    assert.equal(accepted(await merchants.setLogo(appId, null, ada)).position, null);
    assert.deepEqual(await types(), before);
  });

  it('keeps every field of two changes at once, from two processes', async () => {
    const { startProcess, shown, events } = await registered();
    const [one, two] = [startProcess(), startProcess()];
    const answers = await Promise.all([
      one.merchants.setProfile(appId, { colour: '#aabbcc' }, ada),
      two.merchants.setProfile(appId, { supportContact: 'help@bakery.example' }, ada),
      one.merchants.setLogo(appId, new Uint8Array([7]), ada),
      two.merchants.rotateSecret(appId, ada),
    ]);
    for (const answer of answers) accepted(answer);
    const { name, colour, supportContact, logo } = await shown();
    assert.deepEqual([name, colour, supportContact], ['Bakery', '#aabbcc', 'help@bakery.example']);
    assert.equal(typeof logo, 'string');
    assert.equal(verifyChain(await events()), null);
  });

  for (const point of ['ProfileSet.beforeAppend', 'ProfileSet.afterAppend']) {
    it(`is whole after a crash at ${point}`, async () => {
      const { merchants, shown, types, killAt, startProcess } = await registered();
      killAt(point);
      await assert.rejects(merchants.setProfile(appId, { colour: '#aabbcc' }, ada), /killed/);
      assert.equal((await shown()).colour, point === 'ProfileSet.afterAppend' ? '#aabbcc' : null);
      killAt('');
      accepted(await startProcess().merchants.setProfile(appId, { colour: '#aabbcc' }, ada));
      assert.equal((await shown()).colour, '#aabbcc');
      assert.equal((await types()).filter((type) => type === 'ProfileSet').length, 2);
    });
  }

  it('starts again where its rows were removed', async () => {
    const { merchants, kept, shown } = await registered();
    (kept.contents as Map<string, string>).clear();
    accepted(await merchants.setProfile(appId, { colour: '#aabbcc' }, ada));
    const { name, colour } = await shown();
    assert.deepEqual([name, colour], [null, '#aabbcc']);
  });
});
