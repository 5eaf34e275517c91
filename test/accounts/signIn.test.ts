import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { hour_ms, minute_ms } from '../../domain/time.ts';
import { sweep } from '../../src/accounts/createAccounts.ts';
import { createPasscodes, scryptPasscodes } from '../../src/accounts/passcodes.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';
import {
  accepted,
  ada,
  anotherCode,
  askedCode,
  asker,
  clear,
  codeIn,
  createWorld,
  refusedWith,
  registered,
  request,
  type World,
} from './world.ts';

describe('accounts: sign-in', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    world = createWorld(database);
  });

  describe('a mailed code', () => {
    it('signs its owner in, once', async () => {
      world = createWorld(database, { passcodes: scryptPasscodes });
      const { developerId } = await registered(world);
      const { challenge, code } = await askedCode(world, ada);
      const proved = accepted(await world.accounts.prove(challenge, code, asker()));
      assert.deepEqual([proved.developerId, proved.registered], [developerId, null]);
      assert.equal((await world.accounts.findSession(proved.token))?.developerId, developerId);
      assert.equal(refusedWith(await world.accounts.prove(challenge, code, asker())), 'codeExpired');
    });

    it('can be tried five times: then the right one is refused as well', async () => {
      await registered(world);
      const { challenge, code } = await askedCode(world, ada);
      const wrong = () => world.accounts.prove(challenge, anotherCode(code), asker());
      const answers = [await wrong(), await wrong(), await wrong(), await wrong(), await wrong()];
      assert.deepEqual(answers.map(refusedWith), ['codeWrong', 'codeWrong', 'codeWrong', 'codeWrong', 'codeExpired']);
      assert.equal(refusedWith(await world.accounts.prove(challenge, code, asker())), 'codeExpired');
      const again = await askedCode(world, ada);
      accepted(await world.accounts.prove(again.challenge, again.code, asker()));
    });

    it('is tried five times, however many try at once', async () => {
      await registered(world);
      const { challenge, code } = await askedCode(world, ada);
      const { hashes } = await world.workOf(() =>
        Promise.all(Array.from({ length: 30 }, () => world.accounts.prove(challenge, anotherCode(code), asker()))),
      );
      assert.equal(hashes, 5);
    });

    it('sent twice at once signs in only one browser', async () => {
      const { developerId } = await registered(world);
      await world.accounts.endAllSessions(developerId);
      const { challenge, code } = await askedCode(world, ada);
      const prove = () => world.accounts.prove(challenge, code, asker());
      const answers = await Promise.all([prove(), prove(), prove()]);
      assert.equal(answers.filter((answer) => refusedWith(answer) === 'codeExpired').length, 2);
      assert.equal((await world.accounts.sessions(developerId)).length, 1);
    });

    it('expires after ten minutes', async () => {
      await registered(world);
      const { challenge, code } = await askedCode(world, ada);
      world.advance(10 * minute_ms);
      assert.equal(refusedWith(await world.accounts.prove(challenge, code, asker())), 'codeExpired');
    });

    it('is valid only in the browser that requested it', async () => {
      await registered(world);
      const mine = await askedCode(world, ada);
      const theirs = await askedCode(world, ada, asker({ address: '203.0.113.9' }));
      assert.notEqual(mine.challenge, theirs.challenge);
      if (mine.code !== theirs.code) {
        assert.equal(refusedWith(await world.accounts.prove(theirs.challenge, mine.code, asker())), 'codeWrong');
      }
      const madeUp = '0'.repeat(64);
      assert.equal(refusedWith(await world.accounts.prove(madeUp, mine.code, asker())), 'codeExpired');
      accepted(await world.accounts.prove(mine.challenge, mine.code, asker()));
    });

    it('does not count as a try if it has not the form of a code, and costs no work without a challenge', async () => {
      await registered(world);
      const { challenge } = await askedCode(world, ada);
      for (const text of ['', '12345', '1234567', '12345a', '１２３４５６']) {
        assert.equal(refusedWith(await world.accounts.prove(challenge, text, asker())), 'invalidRequest');
      }
      const { hashes } = await world.workOf(() => world.accounts.prove('f'.repeat(64), '123456', asker()));
      assert.equal(hashes, 0);
      assert.deepEqual(await database.query('SELECT tries FROM ops.challenges'), [{ tries: 0 }]);
    });
  });

  describe('a person who requests a code', () => {
    it('learns nothing from the answer, whose work is the same for every address', async () => {
      await registered(world);
      const ask = async (email: string) => {
        const asked = accepted(await world.accounts.ask(email, asker()));
        return JSON.stringify({ ...asked, challenge: asked.challenge.replaceAll(/[0-9a-f]/g, 'x') });
      };
      assert.equal(await ask(ada), await ask('nobody@shop.example'));
      const known = await world.workOf(() => ask(ada));
      assert.deepEqual(known, { hashes: 1, mails: 1, statements: known.statements });
      assert.deepEqual(await world.workOf(() => ask('nobody@shop.example')), known);
      const sent = await world.mails();
      assert.deepEqual(new Set(sent.map(({ to }) => to)), new Set([ada]));
    });

    it('learns nothing from trying codes either', async () => {
      await registered(world);
      const tryFive = async (email: string) => {
        const { challenge } = accepted(await world.accounts.ask(email, asker()));
        const answers: unknown[] = [];
        const { hashes } = await world.workOf(async () => {
          for (let time = 0; time < 6; time += 1) {
            answers.push(await world.accounts.prove(challenge, '000000', asker()));
          }
        });
        return { answers, hashes };
      };
      const nobody = await tryFive('nobody@shop.example');
      assert.equal(nobody.hashes, 5);
      const [mail] = await world.mails();
      assert.equal(mail, undefined);
      const known = await tryFive(ada);
      if (codeIn((await world.mails())[0] ?? assert.fail()) !== '000000') assert.deepEqual(known, nobody);
    });

    it('is refused without a valid address', async () => {
      assert.equal(refusedWith(await world.accounts.ask('ada@localhost', asker())), 'invalidRequest');
      assert.equal((await world.workOf(() => world.accounts.ask('a@b@c', asker()))).statements, 0);
    });

    it('meets the same person in whichever letters the address is written', async () => {
      const { developerId } = await registered(world, { email: 'Ada@Shop.EXAMPLE' });
      const { challenge, code } = await askedCode(world, 'ADA@shop.example');
      assert.equal(accepted(await world.accounts.prove(challenge, code, asker())).developerId, developerId);
    });
  });

  describe('a thousand requests', () => {
    const flood = async (askers: readonly ReturnType<typeof asker>[], email: (index: number) => string) => {
      const answers: unknown[] = [];
      for (const [index, each] of askers.entries()) answers.push(await world.accounts.ask(email(index), each));
      return answers.filter((answer) => refusedWith(answer) === 'rateLimited').length;
    };
    const from = (count: number, address: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => asker({ address: address(index) }));

    it('from one address: thirty are processed', async () => {
      world = createWorld(database, { limited: true });
      assert.equal(
        await flood(
          from(1_000, () => '192.0.2.1'),
          (index) => `user${index}@shop.example`,
        ),
        970,
      );
    });

    it('from everywhere for one mailbox: twenty arrive, and its owner still gets in', async () => {
      world = createWorld(database, { limited: true });
      const { known } = await registered(world);
      assert.equal(
        await flood(
          from(100, (index) => `198.51.100.${index}`),
          () => ada,
        ),
        81,
      );
      assert.equal((await world.mails()).length, 19);

      const owner = asker({ address: '198.51.100.1', known });
      const { challenge, code } = await askedCode(world, ada, owner);
      accepted(await world.accounts.prove(challenge, code, owner));
    });

    it('from one address for one mailbox lock nobody out: the owner signs in from another address, in a new browser', async () => {
      world = createWorld(database, { limited: true });
      await registered(world, {}, asker({ address: '203.0.113.5' }));
      const refused = await flood(
        from(20, () => '192.0.2.66'),
        () => ada,
      );
      assert.equal(refused, 15, 'an address uses up a quarter');
      const owner = asker({ address: '198.51.100.7' });
      const { challenge, code } = await askedCode(world, ada, owner);
      accepted(await world.accounts.prove(challenge, code, owner));
    });

    it('from everywhere for one mailbox are refused for an hour at most', async () => {
      world = createWorld(database, { limited: true });
      await registered(world);
      await flood(
        from(100, (index) => `198.51.100.${index}`),
        () => ada,
      );
      const refused = await world.accounts.ask(ada, asker({ address: '203.0.113.5' }));
      assert.equal(refusedWith(refused), 'rateLimited');
      assert.ok((refused as { retryAfter_s: number }).retryAfter_s <= 3_600);
    });

    it('for one mailbox, or for many, mail codes that nobody guesses in five tries each', async () => {
      const digits = async () => (await world.mails()).map(({ text }) => /Your code is (\d+)/.exec(text)?.[1]?.length);
      world = createWorld(database, { limited: true });
      await registered(world);
      await flood(
        from(15, (index) => `198.51.100.${index}`),
        () => ada,
      );
      assert.deepEqual(await digits(), [...Array(9).fill(6), ...Array(6).fill(8)]);

      await clear(database);
      world = createWorld(database, { limited: true, rates: { shortCodes: { requestsMax: 3, window_s: 3_600 } } });
      for (const name of ['eve', 'bob', 'joe', 'zoe'])
        await world.accounts.register(
          request({ email: `${name}@shop.example`, slug: name }),
          asker({ address: `198.51.100.${name.length}` }),
        );
      assert.deepEqual(await digits(), [6, 6, 6, 8]);
    });

    it('a code of eight digits signs in like one of six', async () => {
      const none = { requestsMax: 1, window_s: 3_600 };
      world = createWorld(database, { limited: true, rates: { shortCodes: none } });
      await registered(world);
      const { challenge } = accepted(await world.accounts.ask(ada, asker()));
      const [mail] = await world.mails();
      const code = /Your code is (\d{8})\b/.exec(mail?.text ?? '')?.[1] ?? assert.fail('no code of eight digits');
      accepted(await world.accounts.prove(challenge, code, asker()));
    });

    it('from an address that the owner shares: the owner can still sign in', async () => {
      world = createWorld(database, { limited: true });
      const { known } = await registered(world);
      assert.ok(
        (await flood(
          from(100, () => '192.0.2.1'),
          (index) => `user${index}@shop.example`,
        )) > 60,
      );
      await world.mails();
      await askedCode(world, ada, asker({ known }));
    });

    it('are answered with the time of the next try', async () => {
      world = createWorld(database, { limited: true, rates: { signIn: { requestsMax: 1, window_s: 3_600 } } });
      await world.accounts.ask(ada, asker());
      const refused = await world.accounts.ask(ada, asker());
      assert.equal(refusedWith(refused), 'rateLimited');
      const { retryAfter_s } = refused as { retryAfter_s: number };
      assert.ok(retryAfter_s > 3_500 && retryAfter_s <= 3_600);
    });

    it('with another person’s proof of a known browser count as strangers', async () => {
      world = createWorld(database, { limited: true, rates: { signInEmail: { requestsMax: 2, window_s: 3_600 } } });
      const eve = await registered(world, { email: 'eve@shop.example', slug: 'eve' });
      await registered(world);
      for (const known of [eve.known, 'v1.forged.text', `${eve.known}x`]) {
        await world.accounts.ask(ada, asker({ known, address: '203.0.113.1' }));
      }
      const refused = await world.accounts.ask(ada, asker({ known: eve.known, address: '203.0.113.1' }));
      assert.equal(refusedWith(refused), 'rateLimited');
    });
  });

  it('hashes two codes at a time; a request beyond the queue is refused as unavailable', async () => {
    const passcodes = createPasscodes({ N: 2 ** 14, r: 8, p: 1 });
    const asked = await Promise.allSettled(Array.from({ length: 100 }, () => passcodes.make()));
    const failed = asked.filter((each) => each.status === 'rejected');
    assert.equal(failed.length, 48);
    assert.ok(failed.every(({ reason }) => reason instanceof Unavailable && reason.retryAfter_s > 0));
    const { code, ...kept } = await passcodes.make();
    assert.equal(await passcodes.matches(code, kept), true, 'places are given back');
  });

  describe('a new browser', () => {
    it('causes a mail; a browser that signed in before does not', async () => {
      const { known } = await registered(world);
      const first = await askedCode(world, ada);
      accepted(await world.accounts.prove(first.challenge, first.code, asker()));
      assert.deepEqual(
        (await world.mails()).map(({ subject }) => subject),
        ['New sign-in'],
      );
      const second = await askedCode(world, ada, asker({ known }));
      accepted(await world.accounts.prove(second.challenge, second.code, asker({ known })));
      assert.deepEqual(await world.mails(), []);
    });

    it('is forgotten after a year', async () => {
      const { known } = await registered(world);
      world.advance(366 * 24 * hour_ms);
      const { challenge, code } = await askedCode(world, ada, asker({ known }));
      accepted(await world.accounts.prove(challenge, code, asker({ known })));
      assert.equal((await world.mails()).length, 1);
    });
  });

  it('is counted for the operator by step and result, without the person', async () => {
    const { challenge } = await registered(world);
    await world.accounts.prove(challenge, '123456', asker());
    await world.accounts.ask('nobody@shop.example', asker());
    await world.accounts.ask('nobody', asker());
    assert.deepEqual(world.observed, ['register ok', 'prove ok', 'prove codeExpired', 'ask ok', 'ask invalidRequest']);
  });

  it('states that nobody can sign in where no mail is sent', async () => {
    world = createWorld(database, { sendsMail: false });
    assert.equal(refusedWith(await world.accounts.ask(ada, asker())), 'forbidden');
    assert.equal(refusedWith(await world.accounts.register(request(), asker())), 'forbidden');
  });

  it('keeps no expired data', async () => {
    await registered(world);
    accepted(await world.accounts.ask(ada, asker()));
    accepted(await world.accounts.ask('nobody@shop.example', asker()));
    world.advance(24 * hour_ms);
    await sweep(database, world.clock.now());
    const left = await database.query<{ rows: bigint }>(
      `SELECT (SELECT count(*) FROM ops.challenges) + (SELECT count(*) FROM ops.mails) + (SELECT count(*) FROM ops.sessions) AS rows`,
    );
    assert.deepEqual(left, [{ rows: 0n }]);
    assert.equal((await database.query('SELECT 1 FROM ops.people')).length, 1);
  });
});
