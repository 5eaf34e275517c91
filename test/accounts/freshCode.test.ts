import assert from 'node:assert/strict';
import { minute_ms } from '../../domain/time.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';
import {
  accepted,
  anotherCode,
  asker,
  clear,
  codeIn,
  createWorld,
  refusedWith,
  registered,
  type World,
} from './world.ts';

const asked = { thing: 'refund of 2.95', words: 'It sends back 2.95 USDC on Base to 0x70997970.' };

describe('accounts: a code for one action', () => {
  let database: Database;
  let world: World;
  let developerId: string;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    world = createWorld(database);
    ({ developerId } = await registered(world));
  });

  async function mailed() {
    const { challenge } = accepted(await world.accounts.askToConfirm(developerId, asked, asker()));
    const mail = (await world.mails()).at(-1) ?? assert.fail('no mail');
    assert.ok(mail.text.includes(asked.words));
    return { challenge, code: codeIn(mail) };
  }
  const confirm = (challenge: string, code: string, thing = asked.thing, who = developerId) =>
    world.accounts.confirm(who, challenge, code, thing);

  it('confirms that action, once', async () => {
    const { challenge, code } = await mailed();
    assert.equal(await confirm(challenge, code), 'confirmed');
    assert.equal(refusedWith(await confirm(challenge, code)), 'codeExpired');
  });

  it('confirms no other action, for no other person, and signs nobody in', async () => {
    const { challenge, code } = await mailed();
    assert.equal(refusedWith(await confirm(challenge, code, 'refund of 29.50')), 'codeExpired');
    assert.equal(refusedWith(await world.accounts.prove(challenge, code, asker())), 'codeExpired');
    assert.equal(refusedWith(await confirm(challenge, code, asked.thing, 'somebody-else')), 'codeExpired');
    assert.equal(await confirm(challenge, code), 'confirmed');
  });

  it('is tried five times, and for ten minutes', async () => {
    const first = await mailed();
    const wrong = () => confirm(first.challenge, anotherCode(first.code));
    const answers = [await wrong(), await wrong(), await wrong(), await wrong(), await wrong()];
    assert.deepEqual(answers.map(refusedWith), ['codeWrong', 'codeWrong', 'codeWrong', 'codeWrong', 'codeExpired']);
    const second = await mailed();
    world.advance(10 * minute_ms);
    assert.equal(refusedWith(await confirm(second.challenge, second.code)), 'codeExpired');
  });
});
