import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { exportJWK, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { hour_ms, minute_ms } from '../../domain/time.ts';
import { sweep } from '../../src/accounts/createAccounts.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createSecretBox } from '../../src/security/masterKey.ts';
import { freshDatabase } from '../support/postgres.ts';
import { accepted, ada, askedCode, asker, clear, createWorld, registered, type World } from './world.ts';

const part = (token: string, index: number) =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Record<string, string>;

describe('accounts: sessions', () => {
  let database: Database;
  let world: World;
  let session: Awaited<ReturnType<typeof registered>>;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    world = createWorld(database);
    session = await registered(world);
  });

  const isIn = async (token = session.token, accounts = world.accounts) => (await accounts.findSession(token)) !== null;

  it('are known on every instance, and ended on every instance at once', async () => {
    const other = world.instance();
    const { developerId } = session;
    const [running] = await world.accounts.sessions(developerId);
    assert.deepEqual(await other.findSession(session.token), { developerId, sessionId: running?.sessionId });
    assert.equal(await other.endSession(developerId, String(running?.sessionId)), true);
    assert.equal(await isIn(), false);
    assert.equal(await isIn(session.token, other), false);
  });

  it('end two hours after their last request, and twelve after they began', async () => {
    world.advance(2 * hour_ms);
    assert.equal(await isIn(), false);
    session = await registered(world, { slug: 'two' });
    for (let hours = 0; hours < 11; hours += 1) {
      world.advance(hour_ms);
      assert.equal(await isIn(), true);
    }
    world.advance(hour_ms);
    assert.equal(await isIn(), false);
    assert.deepEqual(await world.accounts.sessions(session.developerId), []);
  });

  it('are written to once a minute at most', async () => {
    const { statements } = await world.workOf(async () => {
      for (let time = 0; time < 10; time += 1) await isIn();
    });
    assert.equal(statements, 11);
    world.advance(minute_ms + 1);
    assert.equal((await world.workOf(() => isIn())).statements, 2);
  });

  it('are listed for their owner and ended by nobody else', async () => {
    const eve = await registered(world, { email: 'eve@evil.example', slug: 'eve' });
    const [mine] = await world.accounts.sessions(session.developerId);
    assert.deepEqual([mine?.address, mine?.userAgent], ['192.0.2.1', 'a browser']);
    assert.equal(await world.accounts.endSession(eve.developerId, String(mine?.sessionId)), false);
    assert.equal(await world.accounts.endAllSessions(eve.developerId), 1);
    assert.equal(await isIn(), true);
  });

  it('end all together, except the one of the request', async () => {
    const { challenge, code } = await askedCode(world, ada);
    const second = accepted(await world.accounts.prove(challenge, code, asker()));
    const { sessionId } = (await world.accounts.findSession(second.token)) ?? assert.fail();
    assert.equal(await world.accounts.endAllSessions(session.developerId, sessionId), 1);
    assert.deepEqual([await isIn(), await isIn(second.token)], [false, true]);
  });

  it('are limited to twenty per person', async () => {
    for (let time = 0; time < 21; time += 1) {
      world.advance(1);
      const { challenge, code } = await askedCode(world, ada);
      accepted(await world.accounts.prove(challenge, code, asker()));
      await world.mails();
    }
    assert.equal((await world.accounts.sessions(session.developerId)).length, 20);
    assert.equal(await isIn(), false);
  });

  it('keep what a browser says of itself short and printable', async () => {
    const { challenge, code } = await askedCode(world, ada);
    const userAgent = `\u202eagent\r\n<script>${'x'.repeat(500)}`;
    accepted(await world.accounts.prove(challenge, code, asker({ userAgent })));
    const all = await world.accounts.sessions(session.developerId);
    assert.ok(all.some((each) => each.userAgent === `agent<script>${'x'.repeat(187)}`));
  });

  describe('a token', () => {
    const claims = () => {
      const { exp, iat, sub, sid } = part(session.token, 1);
      return {
        exp: Number(exp),
        iat: Number(iat),
        sub: String(sub),
        sid,
        iss: 'payment-intents',
        aud: 'payment-intents',
      };
    };
    const kid = () => part(session.token, 0)['kid'] ?? '';
    /** Signs with the service's own key, so that only the contents differ. */
    async function signed(payload: object, header: object = {}): Promise<string> {
      const [row] = await database.query<{ sealed: string }>('SELECT sealed FROM ops.signing_keys');
      const jwk = JSON.parse(world.box.open(row?.sealed ?? '', `signingKey:${kid()}`));
      const all = { alg: 'EdDSA', typ: 'JWT', kid: kid(), ...header };
      return new SignJWT({ ...claims(), ...payload }).setProtectedHeader(all).sign(await importJWK(jwk, 'EdDSA'));
    }

    it('contains the person and the session, and names its key', async () => {
      assert.deepEqual(part(session.token, 0), { alg: 'EdDSA', typ: 'JWT', kid: kid() });
      assert.deepEqual(Object.keys(part(session.token, 1)).toSorted(), ['aud', 'exp', 'iat', 'iss', 'sid', 'sub']);
      assert.equal(await isIn(await signed({})), true);
    });

    it('without a signature is refused, whatever its header says', async () => {
      assert.equal(await isIn(new UnsecuredJWT(claims()).encode()), false);
      const [, body, signature] = session.token.split('.');
      for (const alg of ['none', 'None', 'HS256', 'ES256', 'Ed25519']) {
        const header = Buffer.from(JSON.stringify({ alg, typ: 'JWT', kid: kid() })).toString('base64url');
        assert.equal(await isIn(`${header}.${body}.${signature}`), false, alg);
        assert.equal(await isIn(`${header}.${body}.`), false, alg);
      }
    });

    it('signed with the public key as a shared secret is refused', async () => {
      const [row] = await database.query<{ sealed: string }>('SELECT sealed FROM ops.signing_keys');
      const { d: _, ...open } = JSON.parse(world.box.open(row?.sealed ?? '', `signingKey:${kid()}`));
      const pem = createPublicKey({ key: open, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
      for (const secret of [String(pem), open.x]) {
        const token = await new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: kid() })
          .sign(Buffer.from(secret.padEnd(32)));
        assert.equal(await isIn(token), false);
      }
    });

    it('signed with another key is refused: under our kid, its own, none, or with the key inside', async () => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const jwk = await exportJWK(publicKey);
      for (const header of [
        { kid: kid() },
        { kid: crypto.randomUUID() },
        {},
        { kid: '../../x' },
        { jwk },
        { jwk, kid: kid() },
      ]) {
        const token = await new SignJWT(claims())
          .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...header })
          .sign(privateKey);
        assert.equal(await isIn(token), false, JSON.stringify(header));
      }
    });

    it('for another audience, of another issuer or type, too old or without an end is refused', async () => {
      const past = Math.floor(Date.parse(world.clock.now()) / 1_000) - 1;
      for (const wrong of [
        { aud: 'other' },
        { iss: 'other' },
        { exp: past },
        { exp: undefined },
        { sid: undefined },
        { sub: undefined },
      ]) {
        assert.equal(await isIn(await signed(wrong)), false, JSON.stringify(wrong));
      }
      assert.equal(await isIn(await signed({}, { typ: 'at+jwt' })), false);
    });

    it('is refused if it names one person and another person’s session', async () => {
      const eve = await registered(world, { email: 'eve@evil.example', slug: 'eve' });
      assert.equal(await isIn(await signed({ sub: eve.developerId })), false);
      assert.equal(await isIn(await signed({ sid: crypto.randomUUID() })), false);
    });

    it('without the form of a token is refused after at most a lookup of its key', async () => {
      for (const text of ['', 'a.b.c', '..', 'x'.repeat(10_000), `${session.token}x`, session.token.slice(0, -4)]) {
        assert.equal(await isIn(text), false);
      }
    });
  });

  describe('signing keys', () => {
    const kids = async () => (await database.query('SELECT kid FROM ops.signing_keys')).length;
    const again = async () => {
      const { challenge, code } = await askedCode(world, ada);
      return accepted(await world.accounts.prove(challenge, code, asker())).token;
    };

    it('change every thirty days; sessions of the previous key continue', async () => {
      world.advance(30 * 24 * hour_ms - minute_ms);
      const old = await again();
      world.advance(minute_ms);
      const young = await again();
      assert.notEqual(part(old, 0)['kid'], part(young, 0)['kid']);
      assert.deepEqual([await isIn(old), await isIn(young)], [true, true]);
      await sweep(database, world.clock.now());
      assert.equal(await kids(), 2);
      world.advance(13 * hour_ms);
      await sweep(database, world.clock.now());
      assert.equal(await kids(), 1);
    });

    it('are sealed: another master key opens none, and makes its own', async () => {
      const [row] = await database.query<{ sealed: string }>('SELECT sealed FROM ops.signing_keys');
      assert.match(String(row?.sealed), /^v1\./);
      const other = world.instance({ keys: createSecretBox(Buffer.alloc(32, 7)) });
      assert.equal(await isIn(session.token, other), false);
      const { challenge, code } = await askedCode(world, ada);
      const { token } = accepted(await other.prove(challenge, code, asker()));
      assert.equal(await isIn(token, other), true);
    });
  });
});
