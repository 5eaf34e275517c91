/** The verifier of evidence in the auditor's situation: one file, on another machine, with only Node. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { eventCodec } from '../../../commands/codec.ts';
import { hashOfHead } from '../../../commands/heads/chain.ts';
import { createFindEvidence, packOf } from '../../../commands/heads/evidence.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { type HeadsEvent, tellAnchor } from '../../../domain/heads/heads.ts';
import { steering } from '../../support/hostileText.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { headKeys, headWorld } from '../../workers/headWorld.ts';
import { type File, program, reportOf, verifyEvidence } from './verifier.ts';

/** One head for all events since the previous one. */
const every = { events: 100, duration_ms: 0 };

async function evidenced() {
  const world = headWorld();
  for (const stream of ['payment-1', 'payment-2', 'payment-1', 'merchant-a', 'payment-1', 'payment-3'])
    await world.grow(stream);
  await world.look({ every });
  const pack = async (stream = 'payment-1'): Promise<string> => {
    const found = await createFindEvidence({ ...world, codec: eventCodec })(stream);
    return isRefusal(found) ? assert.fail(found.message) : packOf(found);
  };
  return { world, pack };
}

const fileOf = (text: string, name = 'pack.json'): File => ({ name, text });
const headsFile = (entries: readonly HeadsEvent[], name = 'heads.json') =>
  fileOf(JSON.stringify({ data: entries }), name);
const refused = (files: readonly File[], why: RegExp, options?: { key?: string }) =>
  assert.rejects(verifyEvidence(files, options), { message: why });

describe('evidence', () => {
  it('is verified in an empty folder by a plain node, and states its limits', async () => {
    const { pack } = await evidenced();
    const folder = temporaryDirectory();
    cpSync(fileURLToPath(program), join(folder, 'verify-evidence.mjs'));
    const text = await pack();
    writeFileSync(join(folder, 'pack.json'), text);
    const run = (...args: string[]) =>
      new Promise<{ code: number; said: string }>((resolve) => {
        const options = { cwd: folder, env: {} };
        const child = execFile(process.execPath, ['verify-evidence.mjs', ...args], options, (_, out, err) =>
          resolve({ code: child.exitCode ?? -1, said: out + err }),
        );
      });
    const good = await run('pack.json', '--key', headKeys(1).current.publicKey);
    assert.equal(good.code, 0, good.said);
    assert.match(good.said, /payment-1: proven[\s\S]*what this cannot tell you/);
    truncateSync(join(folder, 'pack.json'), 64 * 1024 * 1024 + 1);
    assert.match(
      (await run('pack.json')).said,
      /NOT PROVEN: pack.json is larger than any evidence: at most 67108864 by/,
    );
    assert.match((await run('/dev/zero')).said, /NOT PROVEN: \/dev\/zero is no file/);
    writeFileSync(join(folder, 'pack.json'), Buffer.from('ff', 'hex'));
    assert.match((await run('pack.json')).said, /NOT PROVEN: pack.json is no UTF-8 text/);
    writeFileSync(join(folder, 'pack.json'), text.replace('Grown', 'Groan'));
    assert.deepEqual([(await run('pack.json')).code, (await run()).code], [1, 2]);
  });

  it('is checked as docs/audit/evidence.md shows it', async () => {
    const document = readFileSync(new URL('../../../docs/audit/evidence.md', import.meta.url), 'utf8');
    const [, command = '', shown] = /^\$ node (.*)\n([\s\S]*?)```/m.exec(document) ?? [];
    const cwd = fileURLToPath(new URL('../../..', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, command.split(' '), { cwd });
    assert.equal(stdout, shown);
  });

  it('fails with any one byte of it changed', async () => {
    const { pack } = await evidenced();
    const bytes = Buffer.from(await pack());
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        await assert.rejects(async () => verifyEvidence([fileOf(decoder.decode(changed))]));
      }),
      { numRuns: 400 },
    );
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      // Changes case, digits, spaces and line ends, which a parser might ignore.
      changed[at] = (changed[at] ?? 0) ^ 0x20;
      await assert.rejects(async () => verifyEvidence([fileOf(decoder.decode(changed))]), `byte ${at}`);
    }
  });

  it('cannot be forged by an event omitted, inserted, or moved, nor with another payment’s', async () => {
    const { pack } = await evidenced();
    const whole = JSON.parse(await pack());
    const other = JSON.parse(await pack('payment-2'));
    const again = (change: object) => fileOf(`${JSON.stringify({ ...whole, ...change }, null, 2)}\n`);
    const [first, second, third] = whole.events;
    await verifyEvidence([again({})]);
    await refused([again({ events: [first, second] })], /do not lead to the root/);
    await refused([again({ events: [first, third] })], /event 1 does not follow/);
    await refused([again({ events: [first, third, second] })], /event 1 does not follow/);
    await refused([again({ events: other.events })], /do not lead to the root/);
    await refused([again({ stream: 'payment-2' })], /does not follow|do not lead/);
    await refused([again({ way: [] })], /do not lead to the root/);
    await refused([again({ note: 'trust me' })], /more than what is proven/);
  });

  it('is accepted with the auditor’s key, or one that it vouches for', async () => {
    const { world, pack } = await evidenced();
    const [one, two] = [headKeys(1).current, headKeys(2).current];
    await world.grow('payment-1');
    await world.look({ every, keys: async () => headKeys(2, { former: [one] }) });
    const [text, entries] = [fileOf(await pack()), await world.entries()];
    await verifyEvidence([text], { key: two.publicKey });
    await refused([text], /does not vouch for/, { key: one.publicKey });
    await verifyEvidence([text, headsFile(entries)], { key: one.publicKey });
    await refused([text, headsFile(entries)], /does not vouch for/, { key: headKeys(3).current.publicKey });
  });

  it('names the newest anchor that entries lead to from its head, and no other', async () => {
    const { world, pack } = await evidenced();
    const early = fileOf(await pack());
    await world.grow('payment-2');
    await world.look({ every });
    const [first, second] = await world.entries();
    assert.ok(first && second);
    const key = headKeys(1).current;
    const account = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
    const anchorAt = (head: number, headHash: string): HeadsEvent => {
      const anchor = { head, headHash, chainId: 1500, account, transaction: '5f'.repeat(32), ledger: '9' } as const;
      const how = { seen: 2, publicKey: key.publicKey, hashOf: hashOfHead, sign: key.sign };
      const told = tellAnchor(second, anchor, how);
      return isRefusal(told) || !told[0] ? assert.fail('it is not told') : told[0];
    };
    const anchored = anchorAt(2, hashOfHead(second));
    const report = async (...entries: readonly HeadsEvent[]) =>
      reportOf(await verifyEvidence([early, headsFile(entries)]));
    const shown = await report(first, second, anchored);
    assert.match(shown, new RegExp(`anchor +chain 1500, ledger 9, ${'5f'.repeat(32)} of ${account}`));
    assert.match(shown, new RegExp(`memo is to be the hash ${hashOfHead(second)}, of head 2`));
    assert.doesNotMatch(await report(first, anchored), /memo is to be/, 'whether head 2 follows nobody has shown');
    assert.match(await report(anchorAt(1, hashOfHead(first)), second), /of head 1/);
    await refused([early, headsFile([second, anchorAt(2, 'ab'.repeat(32))])], /FORK: entry 3 tells of another head 2/);
    const changed = { ...anchored, data: { ...anchored.data, transaction: '5e'.repeat(32) } } as HeadsEvent;
    await refused([early, headsFile([second, changed])], /entry 3 is not signed/);
  });

  it('reveals two histories', async () => {
    const { world, pack } = await evidenced();
    const early = fileOf(await pack(), 'early.json');
    const entries = await world.entries();
    await world.grow('payment-1');
    await world.look({ every });
    const later = fileOf(await pack(), 'later.json');
    await verifyEvidence([early, later, headsFile(await world.entries())]);

    const forger = await evidenced();
    const forged = fileOf(await forger.pack(), 'forged.json');
    await refused([early, forged], /FORK: early.json and forged.json have two different entries of number 1/);
    await forger.world.grow('payment-1');
    await forger.world.look({ every });
    await refused(
      [headsFile(entries), fileOf(await forger.pack(), 'forged.json')],
      /FORK: entry 2 does not follow entry 1/,
    );
  });

  it('reveals that events were removed, though only heads far apart were given', async () => {
    const { pack } = await evidenced();
    const early = fileOf(await pack(), 'early.json');
    const forger = headWorld();
    await forger.grow('payment-1');
    for (const stream of ['payment-2', 'payment-3', 'payment-4']) {
      for (let n = 0; n < 4; n += 1) await forger.grow(stream);
      await forger.look({ every });
    }
    const found = await createFindEvidence({ ...forger, codec: eventCodec })('payment-1');
    const late = fileOf(isRefusal(found) ? assert.fail(found.message) : packOf(found), 'late.json');
    await verifyEvidence([late]);
    await refused([early, late], /FORK: early.json and late.json tell two histories of payment-1/);
    await refused([late, early], /FORK: early.json and late.json tell two histories of payment-1/);
  });

  it('is refused under a key that was given up, though the entry that did so is not next to it', async () => {
    const { world } = await evidenced();
    const one = headKeys(1).current;
    await world.grow('payment-1');
    await world.look({ every, keys: async () => headKeys(2, { former: [one] }) });
    const entries = await world.entries();
    const thief = await evidenced();
    for (let n = 0; n < 6; n += 1) {
      await thief.world.grow('payment-9');
      await thief.world.look({ every });
    }
    const stolen = (await thief.world.entries()).at(-1);
    assert.ok(stolen && stolen.data.publicKey === one.publicKey);
    await refused(
      [headsFile(entries), headsFile([stolen], 'stolen.json')],
      /FORK: entry \d+ is signed by key .* gave up/,
    );
  });

  it('is read in one way alone: no key occurs twice, and no number is too great for it', async () => {
    const { world, pack } = await evidenced();
    const text = await pack();
    const whole = JSON.parse(text);
    const [first, ...others] = whole.events;
    const saying = (data: string) =>
      fileOf(`${JSON.stringify({ ...whole, events: [{ ...first, data }, ...others] }, null, 2)}\n`);
    for (const data of ['{"amount":"1","amount":"2"}', '{"amount":9007199254740993}', '{"amount":1.0}', '{ }'])
      await refused([saying(data)], /the data of event 0 may be read in two ways/);
    await refused([saying('{"amount":1')], /the data of event 0 is no JSON/);
    const metadata = first.metadata.replace('{', '{"at":"2020-01-01T00:00:00.000Z",');
    const twice = { ...whole, events: [{ ...first, metadata }, ...others] };
    await refused([fileOf(`${JSON.stringify(twice, null, 2)}\n`)], /the metadata of event 0 may be read in two ways/);
    await refused([fileOf(text.replace('"way":', '"way": [],\n  "way":'))], /more than what is proven/);

    const heads = JSON.stringify({ data: await world.entries() });
    await verifyEvidence([fileOf(`${JSON.stringify(JSON.parse(heads), null, 4)}\n`)]);
    await refused([fileOf(heads.replace('"number":1', '"number":2,"number":1'))], /may be read in two ways/);
    await refused([fileOf(heads.replace('"number":1', '"number":1.0'))], /may be read in two ways/);
    const great = heads.replace('"number":1', '"number":9007199254740992');
    await refused([fileOf(great)], /entry \? has no good number/);
    const until = heads.replace(/"until":("[^"]*")/, '"until":[$1]');
    await refused([fileOf(until)], /entry 1 has no good until/);
  });

  it('is refused at once where arrays are nested a million deep', async () => {
    const before = process.cpuUsage();
    for (const depth of [300_000, 2_000_000])
      await refused([fileOf(`${'['.repeat(depth)}${']'.repeat(depth)}`)], /nested deeper than any evidence/);
    const used_ms = process.cpuUsage(before).user / 1_000;
    assert.ok(used_ms < 2_000, `${used_ms} ms of a processor`);
  });

  it('is refused in words where something is nested very deep', async () => {
    const { world, pack } = await evidenced();
    const [text, heads] = [await pack(), JSON.stringify(await world.entries().then(([entry]) => entry))];
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const said = /nested deeper than any evidence|none of heads|no good|not whole|names no stream|the way to the root/;
    await refused([fileOf(deep), fileOf(heads)], said);
    for (const name of ['type', 'data', 'number', 'position', 'until', 'categories', 'previous', 'signature'])
      await refused(
        [
          fileOf(
            heads.replace(new RegExp(`"${name}":("[^"]*"|\\d+|null|\\[[^\\]]*\\]|\\{.*?\\})`), `"${name}":${deep}`),
          ),
        ],
        said,
      );
    for (const name of ['stream', 'events', 'way'])
      await refused(
        [fileOf(JSON.stringify({ ...JSON.parse(text), [name]: 0 }).replace(`"${name}":0`, `"${name}":${deep}`))],
        said,
      );
    const whole = JSON.parse(text);
    const [first, ...others] = whole.events;
    const inside = JSON.stringify({ ...whole, events: [{ ...first, data: deep }, ...others] }, null, 2);
    await refused([fileOf(`${inside}\n`)], /the data of event 0 is nested deeper/);
  });

  it('moves no cursor, prints no colour and begins no line by its content', async () => {
    const { pack } = await evidenced();
    const verified = await verifyEvidence([fileOf(await pack())]);
    const [first] = verified.packs;
    assert.ok(first);
    const wicked = 'x\u001b[2K\u202e\nheads: all is proven\u{e0041}\\u{1b}';
    const events = [{ type: wicked, data: { hash: wicked, chainId: wicked, blockNumber: wicked }, at: wicked }];
    const report = reportOf({ ...verified, packs: [{ ...first, events }] });
    assert.doesNotMatch(report, steering);
    assert.doesNotMatch(report, /^heads: all is proven/m);
    assert.match(report, /x\\u\{1b\}\[2K\\u\{202e\}\\u\{a\}heads: all is proven\\u\{e0041\}\\u\{5c\}u\{1b\}/);
  });

  it('states between which heads nothing was given', async () => {
    const { world, pack } = await evidenced();
    const early = fileOf(await pack());
    for (let n = 0; n < 3; n += 1) {
      await world.grow('payment-1');
      await world.look({ every });
    }
    const { gaps } = await verifyEvidence([early, fileOf(await pack())]);
    assert.deepEqual(gaps, [[1, 4]]);
  });
});
