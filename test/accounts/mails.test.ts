/** Contents of mails, their queue, and behaviour of mail servers. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Unavailable } from '../../commands/ports.ts';
import { minute_ms } from '../../domain/time.ts';
import { workSet } from '../../projections/sets.ts';
import { readMail } from '../../sandbox/readMail.ts';
import { erase, invite, welcome } from '../../src/accounts/people.ts';
import { createSmtp, isSender } from '../../src/accounts/smtp.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { randomIds } from '../../src/process/system.ts';
import { mailsWorker } from '../../src/workers/accounts/notices.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import {
  accepted,
  ada,
  asker,
  clear,
  codeIn,
  createWorld,
  refusedWith,
  registered,
  request,
  type World,
} from './world.ts';

describe('accounts: mail', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    await database.query('DELETE FROM ops.work_failures');
    world = createWorld(database);
  });
  const signal = new AbortController().signal;
  const waiting = async () => (await database.query('SELECT 1 FROM ops.mails')).length;
  const letter = { subject: 'Word', text: 'of something\n', life_ms: minute_ms };
  async function person() {
    const { developerId } = await registered(world);
    return { developerId, email: ada, provedAt: null };
  }

  describe('in the outbox', () => {
    it('is sealed: neither address nor code can be read in the tables', async () => {
      await registered(world);
      accepted(await world.accounts.ask(ada, asker()));
      const rows = JSON.stringify(await database.query('SELECT * FROM ops.mails'));
      const challenges = JSON.stringify(await database.query('SELECT * FROM ops.challenges'));
      const code = codeIn((await world.mails())[0] ?? assert.fail());
      assert.ok(!rows.includes(ada) && !rows.includes(code) && !challenges.includes(code));
    });

    it('is removed once it is sent, and mail without a receiver is never sent', async () => {
      const to = await person();
      await world.outbox.put(database, { ...letter, to });
      await world.outbox.put(database, { ...letter, to: null });
      const sent: string[] = [];
      const worker = mailsWorker(world.outbox, async ({ to: address }) => sent.push(address) > 0);
      for (const mailId of await worker.due(10, world.clock.now())) await worker.act(mailId, signal);
      assert.deepEqual(sent, [ada]);
      assert.equal(await waiting(), 0);
    });

    it('is sent again if the outcome is unknown, and not after its expiry', async () => {
      await world.outbox.put(database, { ...letter, to: await person() });
      let calls = 0;
      const failing = mailsWorker(world.outbox, async () => {
        calls += 1;
        throw new Unavailable('away');
      });
      const [mailId = ''] = await failing.due(10, world.clock.now());
      await assert.rejects(failing.act(mailId, signal));
      assert.equal(await waiting(), 1);
      world.advance(minute_ms);
      await failing.act(mailId, signal);
      assert.deepEqual([calls, await waiting()], [1, 0]);
    });

    it('waits after a failure, and is removed at its end even when it was parked', async () => {
      await world.outbox.put(database, { ...letter, to: await person() });
      const [mailId = ''] = await world.outbox.due(10, world.clock.now());
      const failures = createFailures(database, { attemptsMax: 1 });
      await failures.failed('mails', mailId, new Error('refused'), world.clock.now());
      assert.deepEqual(await world.outbox.due(10, world.clock.now()), []);
      world.advance(minute_ms);
      assert.deepEqual(await world.outbox.due(10, world.clock.now()), [mailId]);
    });

    it('is bounded: a flood is refused before the mail server is buried', async () => {
      await database.query(
        `INSERT INTO ops.mails (mail_id, sealed, created_at, expires_at)
         SELECT i::text, 'x', now(), now() FROM generate_series(1, 10000) AS i`,
      );
      await assert.rejects(world.accounts.register(request(), asker()), Unavailable);
      assert.deepEqual(await database.query('SELECT 1 FROM ops.registrations'), []);
    });

    it('is stored once per id', async () => {
      const to = await person();
      for (let time = 0; time < 2; time += 1) await world.outbox.put(database, { ...letter, to, mailId: 'one' });
      assert.equal(await waiting(), 1);
    });
  });

  describe('through a mail server', () => {
    const received: { readonly to: readonly string[]; readonly raw: Buffer }[] = [];
    let answer: Error | null;
    let server: SMTPServer;
    let smtp: ReturnType<typeof createSmtp>;
    before(async () => {
      server = new SMTPServer({
        disabledCommands: ['AUTH', 'STARTTLS'],
        onRcptTo: (_address, _session, done) => done(answer),
        onData(stream, { envelope }, done) {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            received.push({ to: envelope.rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks) });
            done();
          });
        },
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.server.address() as AddressInfo;
      smtp = createSmtp({ url: `smtp://127.0.0.1:${port}`, from: 'Payments <no-reply@pay.example>' });
    });
    beforeEach(() => {
      received.length = 0;
      answer = null;
    });
    after(async () => {
      smtp.close();
      await new Promise<void>((resolve) => server.close(resolve));
    });

    const refusing = (responseCode: number) => Object.assign(new Error(`no ${ada} here`), { responseCode });

    it('goes to one address, whatever text the address contains', async () => {
      for (const to of [
        'ada@shop.example',
        'ada@shop.example, eve@evil.example',
        'ada@shop.example\r\nBcc: eve@evil.example',
      ]) {
        await smtp.send({ to, subject: 'Word', text: 'x' }).catch(() => {});
      }
      for (const { to, raw } of received) {
        assert.equal(to.length, 1);
        assert.doesNotMatch(raw.toString(), /^Bcc:/im);
      }
      assert.deepEqual(received[0]?.to, [ada]);
    });

    it('has no header that a subject injected', async () => {
      await smtp.send({ to: ada, subject: 'Word\r\nBcc: eve@evil.example\r\n\r\nbody', text: 'x' });
      const [{ raw, to } = assert.fail()] = received;
      assert.deepEqual(to, [ada]);
      assert.doesNotMatch(raw.toString(), /^Bcc:/im);
      assert.equal(readMail(raw).text.trim(), 'x');
    });

    it('to a mailbox that does not exist is given up, to a busy server tried again', async () => {
      answer = refusing(550);
      assert.equal(await smtp.send({ to: ada, subject: 'Word', text: 'x' }), false);
      answer = refusing(451);
      await assert.rejects(smtp.send({ to: ada, subject: 'Word', text: 'x' }), Unavailable);
    });

    it('never has the server’s words in an error: they may name the person', async () => {
      answer = refusing(451);
      await assert.rejects(
        smtp.send({ to: ada, subject: 'Word', text: 'x' }),
        ({ message }: Error) => !message.includes(ada),
      );
    });

    it('is repeated while the server is away', async () => {
      const away = createSmtp({ url: 'smtp://127.0.0.1:1', from: 'no-reply@pay.example' });
      await assert.rejects(away.send({ to: ada, subject: 'Word', text: 'x' }), Unavailable);
      away.close();
    });

    it('never sends a password without TLS', async () => {
      const { port } = server.server.address() as AddressInfo;
      const plain = createSmtp({ url: `smtp://user:secret@127.0.0.1:${port}`, from: 'no-reply@pay.example' });
      await assert.rejects(plain.send({ to: ada, subject: 'Word', text: 'x' }));
      assert.deepEqual(received, []);
      plain.close();
    });
  });

  it('has a sender of one address', () => {
    assert.deepEqual(
      ['a@b.example', 'Shop <a@b.example>', 'a@b.example, c@d.example', 'x\r\nBcc: <a@b.example>', '<a@b>', ''].map(
        isSender,
      ),
      [true, true, false, false, false, false],
    );
  });

  describe('by an operator’s command', () => {
    const operator = () => ({ sql: database, outbox: world.outbox, clock: world.clock, ids: randomIds });

    it('invites a person, who may then register where that is needed', async () => {
      world = createWorld(database, { registration: 'invited' });
      const { developerId } = accepted(
        await invite(operator(), 'Ada@shop.example', 'https://pay.example/dashboard/register'),
      );
      const [mail] = await world.mails();
      assert.match(mail?.text ?? '', /https:\/\/pay\.example\/dashboard\/register/);
      assert.equal((await registered(world)).developerId, developerId);
      assert.equal(accepted(await welcome(operator(), ada)).developerId, developerId);
      assert.equal(refusedWith(await invite(operator(), 'ada', null)), 'invalidRequest');
    });

    it('erases a person with everything that is theirs; the log stays whole', async () => {
      const before = await registered(world);
      const log = await world.events(before.appId);
      accepted(await world.accounts.register(request({ slug: 'two' }), asker()));
      await database.query(
        `INSERT INTO ops.profiles (digest, app_id, content) VALUES ('mine', $1, '{}'), ('hers', 'x', '{}')`,
        [before.appId],
      );
      await fill(database, world.store, workSet, [await wholeLog(world.store)]);
      assert.deepEqual(accepted(await erase(operator(), ada)), { apps: [before.appId] });
      assert.deepEqual(await database.query('SELECT digest FROM ops.profiles'), [{ digest: 'hers' }]);
      assert.equal(await world.accounts.findSession(before.token), null);
      assert.equal(await world.accounts.person(before.developerId), null);
      const left = await database.query<{ rows: bigint }>(
        `SELECT (SELECT count(*) FROM ops.people) + (SELECT count(*) FROM ops.sessions) + (SELECT count(*) FROM ops.mails)
              + (SELECT count(*) FROM ops.challenges) + (SELECT count(*) FROM ops.registrations) AS rows`,
      );
      assert.deepEqual(left, [{ rows: 0n }]);
      assert.deepEqual(await world.events(before.appId), log);
      assert.equal(refusedWith(await erase(operator(), ada)), 'notFound');
    });
  });
});
