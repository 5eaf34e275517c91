import assert from 'node:assert/strict';
import { chmodSync, closeSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import {
  keystoreNames,
  openKeystore,
  replaceSealed,
  sealKeystore,
  withKeystore,
} from '../../src/environment/keystore.ts';
import { runToolIn, succeeded } from '../support/operatorTools.ts';
import { isFull } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const phrase = 'correct horse battery';
const key = `0x${'0123456789abcdef'.repeat(4)}` as const;
const sealed = sealKeystore({ TREASURY_PRIVATE_KEY: key }, phrase);

describe('a keystore', () => {
  it('opens with its passphrase alone, in any Unicode composition', () => {
    assert.deepEqual(openKeystore(sealed, phrase), { TREASURY_PRIVATE_KEY: key });
    assert.throws(() => openKeystore(sealed, `${phrase}!`), {
      name: 'KeystoreError',
      message: /passphrase is another/,
    });
    const accented = sealKeystore({}, 'caf\u00e9 con leche'.normalize('NFC'));
    assert.deepEqual(openKeystore(accented, 'cafe\u0301 con leche'), {});
  });

  it('reveals neither keys nor their names, and is another text each time', () => {
    assert.ok(!sealed.includes('TREASURY') && !sealed.includes(key.slice(2)));
    assert.notEqual(sealKeystore({ TREASURY_PRIVATE_KEY: key }, phrase), sealed);
  });

  it('does not open after any change of it', () => {
    const file = JSON.parse(sealed);
    const flipped = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
    const changed = [
      { ...file, sealed: flipped(file.sealed) },
      { ...file, sealed: file.sealed.slice(0, 10) },
      { ...file, iv: flipped(file.iv) },
      { ...file, iv: '' },
      { ...file, scrypt: { ...file.scrypt, salt: flipped(file.scrypt.salt) } },
    ];
    for (const each of changed)
      assert.throws(() => openKeystore(JSON.stringify(each), phrase), { name: 'KeystoreError' });
  });

  it('is refused before any work when it requires too little of it, or all memory', () => {
    const file = JSON.parse(sealed);
    for (const N of [2, 2 ** 16, 2 ** 21, 2 ** 17 + 0.5, -1])
      assert.throws(() => openKeystore(JSON.stringify({ ...file, scrypt: { ...file.scrypt, N } }), phrase), {
        message: /no keystore of this program/,
      });
    for (const text of ['', '{}', 'null', key])
      assert.throws(() => openKeystore(text, phrase), { message: /no keystore of this program/ });
  });

  it('is not made with an easily guessed passphrase', () => {
    assert.throws(() => sealKeystore({}, 'short'), { message: /under 12 characters/ });
  });
});

describe('KEYSTORE', () => {
  const directory = temporaryDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const store = file('keystore.json', sealed);
  const passphraseFile = file('passphrase', `${phrase}\nnotes below are ignored\n`);
  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    return { env: withKeystore(env, problems), problems };
  };

  it('provides its keys, with the passphrase from a file or a descriptor, and does not change the process’s environment', () => {
    const byFile = read({ KEYSTORE: store, KEYSTORE_PASSPHRASE_FILE: passphraseFile, PORT: '1' });
    assert.deepEqual(byFile.problems, []);
    assert.equal(byFile.env['TREASURY_PRIVATE_KEY'], key);
    assert.equal(byFile.env['PORT'], '1');
    const descriptor = openSync(passphraseFile, 'r');
    const byDescriptor = read({ KEYSTORE: store, KEYSTORE_PASSPHRASE_FD: String(descriptor) });
    assert.equal(byDescriptor.env['TREASURY_PRIVATE_KEY'], key);
    assert.throws(() => closeSync(descriptor), { code: 'EBADF' }, 'the descriptor is closed once it is read');
    assert.equal(process.env['TREASURY_PRIVATE_KEY'], undefined);
  });

  it('states the fault, and no secret', () => {
    const other = file('other', 'another passphrase');
    const wrong: readonly [Record<string, string>, RegExp][] = [
      [{ KEYSTORE: store }, /set one of KEYSTORE_PASSPHRASE_FILE and KEYSTORE_PASSPHRASE_FD/],
      [{ KEYSTORE: store, KEYSTORE_PASSPHRASE_FILE: other }, /the passphrase is another one, or the file was changed/],
      [{ KEYSTORE: store, KEYSTORE_PASSPHRASE_FILE: file('empty', '') }, /its passphrase is empty/],
      [{ KEYSTORE: store, KEYSTORE_PASSPHRASE_FD: 'three' }, /number of a descriptor/],
      [{ KEYSTORE: join(directory, 'none'), KEYSTORE_PASSPHRASE_FILE: other }, /cannot be read \(ENOENT\)/],
      [
        { KEYSTORE: store, KEYSTORE_PASSPHRASE_FILE: passphraseFile, TREASURY_PRIVATE_KEY: key },
        /TREASURY_PRIVATE_KEY is in the KEYSTORE and set beside it/,
      ],
    ];
    for (const [env, problem] of wrong) {
      const { problems } = read(env);
      assert.match(problems.join(), problem);
      assert.ok(!problems.join().includes(key) && !problems.join().includes('another passphrase'));
    }
  });

  it('provides nothing but treasury keys: a sealed backup of secrets in its place sets no master key', () => {
    const secrets = sealKeystore({ TREASURY_PRIVATE_KEY: key, MASTER_KEY: 'c'.repeat(64) }, phrase);
    const env = { KEYSTORE: file('secrets.sealed', secrets), KEYSTORE_PASSPHRASE_FILE: passphraseFile };
    const { env: given, problems } = read({ ...env, MASTER_KEY: 'own' });
    assert.match(problems.join(), /it holds MASTER_KEY, which is no key of the treasury/);
    assert.deepEqual([given['MASTER_KEY'], given['TREASURY_PRIVATE_KEY']], ['own', undefined]);
  });

  it('is replaced where a link to it leads, and never written through a link that lies beside it', () => {
    const [real, link, victim] = [file('real', sealed), join(directory, 'link'), file('victim', 'untouched')];
    symlinkSync(real, link);
    symlinkSync(victim, `${real}.new`);
    replaceSealed(link, 'next');
    assert.deepEqual([readFileSync(real, 'utf8'), readFileSync(victim, 'utf8')], ['next', 'untouched']);
    assert.equal(statSync(real).mode & 0o777, 0o600);
  });

  it('is made and kept by a command that takes no secret as an argument', async () => {
    const path = join(directory, 'made.json');
    const next = file('next', 'a longer passphrase');
    const keyFile = file('key', `${key}\n`);
    const run = async (verb: string, ...args: string[]) =>
      succeeded(await runToolIn(process.env, 'keystore', [verb, path, ...args, '--passphrase-file', passphraseFile]));
    await run('put', 'TREASURY_PRIVATE_KEY', '--from', keyFile);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.match((await run('list')).stdout, /TREASURY_PRIVATE_KEY.*yes/);
    assert.equal((await run('public')).stdout, `TREASURY_ADDRESS=${privateKeyToAddress(key)}\n`);
    await assert.rejects(run('put', 'TREASURY_PRIVATE_KEY', '--from', next), /is another one: --replace/);
    if (isFull) {
      await assert.rejects(run('put', 'PORT', '--from', keyFile), /Allowed choices are/);
      await assert.rejects(run('remove', 'SOLANA_DEPOSIT_SEED'), /nothing was changed/);
    }
    await run('passphrase', next);
    if (isFull) await assert.rejects(run('list'), /passphrase is another one/);
    assert.deepEqual(openKeystore(readFileSync(path, 'utf8'), 'a longer passphrase'), { TREASURY_PRIVATE_KEY: key });
    chmodSync(path, 0o400);
  });

  it('accepts nothing but treasury keys', () =>
    assert.ok(keystoreNames.every((name) => /TREASURY|CHANNEL|DEPOSIT|RELAY/.test(name))));
});
