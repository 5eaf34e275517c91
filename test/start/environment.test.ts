import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReader, withoutSecrets } from '../../src/environment/reader.ts';
import { childEnvironment } from '../../src/process/system.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('a secret', () => {
  const directory = temporaryDirectory();
  const file = (content: string | Buffer): string => {
    const path = join(directory, `secret-${Math.random()}`);
    writeFileSync(path, content);
    return path;
  };
  function read(env: Record<string, string>, name = 'MASTER_KEY') {
    const problems: string[] = [];
    return { value: createReader(env, problems).text(name, ''), problems };
  }

  it('may be read from a file, without the trailing line break', () => {
    for (const name of ['MASTER_KEY', 'SMTP_URL', 'RPC_URLS_8453', 'STELLAR_CHANNEL_SECRETS', 'DEPLOYER_PRIVATE_KEY'])
      assert.deepEqual(read({ [`${name}_FILE`]: file('a secret\r\n') }, name), { value: 'a secret', problems: [] });
  });

  it('is not given twice', () => {
    const { value, problems } = read({ MASTER_KEY: 'one', MASTER_KEY_FILE: file('other') });
    assert.equal(value, '');
    assert.deepEqual(problems, ['MASTER_KEY_FILE is set in addition to MASTER_KEY: set only one of them']);
  });

  it('is not read from a file that is missing, empty, a directory or too large; the error reveals none of it', () => {
    const of = (path: string) => read({ MASTER_KEY_FILE: path }).problems.join();
    assert.match(of(join(directory, 'none')), /none, which cannot be read \(ENOENT\)/);
    assert.match(of(directory), /cannot be read \(EISDIR\)/);
    assert.match(of(file('\n')), /which is empty/);
    assert.match(of(file('x'.repeat(64 * 1024 + 1))), /has over 65536 bytes$/);
    assert.equal(read({ MASTER_KEY_FILE: file('x'.repeat(64 * 1024)) }).problems.length, 0);
    assert.match(of('/dev/zero'), /has over 65536 bytes$/);
  });

  it('is the only thing that comes from a file', () => {
    assert.deepEqual(read({ HOST_FILE: file('elsewhere') }, 'HOST'), { value: '', problems: [] });
  });
});

describe('a child process', () => {
  it('gets the variables that a program needs to run, and nothing of the configuration', () => {
    const environment = { PATH: '/bin', TZ: 'UTC', LC_ALL: 'C', MASTER_KEY: 'a', SMTP_URL: 'b', RPC_URLS_1: 'c' };
    assert.deepEqual(childEnvironment(environment), { PATH: '/bin', TZ: 'UTC', LC_ALL: 'C' });
  });
});

describe('the URL of a store in a message', () => {
  for (const [url, shown] of [
    ['postgres://pay:pass@db:5432/payments?sslmode=require', 'postgres://db:5432/payments'],
    ['postgres://pay:p/a@ss?w#d@db/payments', 'postgres://db/payments'],
    ['esdb+discover://ops:p@s/s@a:2113,b:2113?tlsCaFile=/etc/ca.crt', 'esdb+discover://a:2113,b:2113'],
    ['esdb+unix:///data/socket', 'esdb+unix:///data/socket'],
  ] as const)
    it(`reveals of ${url} no user, no password and no option`, () => assert.equal(withoutSecrets(url), shown));
});
