/** `npm test` itself, on spec files written for this purpose. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gateCases, isFull } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { processesIn } from './remains.ts';
import { specFiles } from './specFiles.ts';

const program = join(import.meta.dirname, '../run.ts');

/** Returns source text that uses a number of processor seconds at any pace. */
function compute(seconds: number): string {
  const used = 'Object.values(process.cpuUsage(from)).reduce((sum, part) => sum + part)';
  return `const from = process.cpuUsage(); while (${used} < ${seconds * 1e6});`;
}

/** Spec files by name. */
const samples = {
  passing: "describe('a sum', () => { it('is right', () => {}); it('is exact', () => {}); });",
  skipping: "describe('a sum', () => { it('is right', () => {}); it.skip('on another machine', () => {}); });",
  failing: `describe('a sum', () => {
    it('is right', () => {});
    it('is wrong', () => { throw new Error('1 + 1 is not 3', { cause: new Error('nor 4') }); });
  });`,
  brokenBefore:
    "describe('a sum', () => { before(() => { throw new Error('no numbers'); }); it('is right', () => {}); });",
  empty: "describe('nothing', () => {});",
  unreadable: 'describe(',
  dying: "it('takes the process with it', () => process.kill(process.pid, 'SIGKILL'));",
  printing: "it('talks', () => console.log('one and one'));",
  world: `import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    it('takes a while', async () => {
      const log = new URL('../../worlds.txt', import.meta.url);
      appendFileSync(log, '+');
      await sleep(500);
      appendFileSync(log, '-');
    });`,
  sharing: `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
    import { onGroupEnd } from '${new URL('../support/hooks.ts', import.meta.url)}';
    const at = (name) => new URL('../../../' + name, import.meta.url);
    onGroupEnd(() => writeFileSync(at('ended.txt'), ''));
    it('uses the shared world', () => {
      if (existsSync(at('ended.txt'))) throw new Error('the shared world has ended');
      appendFileSync(at('sharing.txt'), process.pid + '\\n');
    });`,
  afterSharing: `import { readFileSync } from 'node:fs';
    it('runs without the shared world', () => readFileSync(new URL('ended.txt', import.meta.url)));`,
  sharingNodes: "it('uses the shared nodes', () => {});",
  manyCases: `it('tries the cases of the ' + process.env['SUITE'] + ' suite', () => {});
    it.skip(process.env['SUITE'], () => {});`,
  light: `it('computes', () => { ${compute(0.1)} });`,
  busyShard: `it('computes', () => { ${compute(0.5)} });`,
  busyChild: `import { spawnSync } from 'node:child_process';
    it('waits for a child', () => spawnSync(process.execPath, ['-e', ${JSON.stringify(compute(0.5))}]));`,
  busyOrphan: `import { spawnSync } from 'node:child_process';
    import { existsSync, rmSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    import { setTimeout as sleep } from 'node:timers/promises';
    const work = ${JSON.stringify(`${compute(1)} require('node:fs').writeFileSync(process.env.TMPDIR + '/computed', '');`)};
    it('waits for a process that lost its parent', async () => {
      spawnSync('sh', ['-c', '"$0" -e "$1" > /dev/null 2>&1 &', process.execPath, work]);
      while (!existsSync(tmpdir() + '/computed')) await sleep(20);
      rmSync(tmpdir() + '/computed');
    });`,
  realStore: onServer('EVENTSTOREDB'),
  realChains: onServer('GETH'),
  littering: `import { mkdtempSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    it('forgets its folder', () => mkdtempSync(tmpdir() + '/forgotten-'));`,
  leaving: `import { spawn } from 'node:child_process';
    it('forgets its process', () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref());`,
  hanging: `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    it('hangs', function () {
      this.timeout(0);
      spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
      writeFileSync(tmpdir() + '/started', '');
      return new Promise((resolve) => setTimeout(resolve, 600_000));
    });`,
};
type Sample = keyof typeof samples;

/** Specs that are skipped unless a variable names the start program of their server. */
function onServer(variable: string): string {
  return `const describeIt = process.env['${variable}'] ? describe : describe.skip;
    describeIt('a server', () => { it('is read', () => {}); it('is written', () => {}); });`;
}

interface Options {
  readonly args?: readonly string[];
  /** Value of EVENTSTOREDB and GETH. */
  readonly start?: string;
}

/** Content of the file that `--times` writes. */
interface Times {
  readonly processor_s: number;
  readonly files: readonly { readonly name: string; readonly processor_s: number }[];
}

describe('npm test', () => {
  let folder: string;
  let folders: Partial<Record<Sample, string>>;
  beforeEach(() => {
    folder = temporaryDirectory();
    folders = {
      world: join(folder, 'test/e2e'),
      sharing: join(folder, 'test/e2e/shared'),
      sharingNodes: join(folder, 'test/realChains/shared'),
      realStore: join(folder, 'test/realStore'),
      realChains: join(folder, 'test/realChains'),
    };
  });

  function start(shards: number, names: readonly Sample[], options: Options = {}): ChildProcess {
    const files = names.map((name, index) => {
      const place = folders[name] ?? folder;
      mkdirSync(place, { recursive: true });
      const file = join(place, `${index}-${name}.mjs`);
      writeFileSync(file, samples[name]);
      return file;
    });
    // The runs of these specs are separate from the run around them: the spec checks their remains.
    const { start: server = '' } = options;
    const given = { NO_COLOR: '1', SUITE: '', BLOCK_TIME_S: '0.2', EVENTSTOREDB: server, GETH: server };
    const env = { ...process.env, ...given, TMPDIR: folder };
    return spawn(process.execPath, [program, '--shards', String(shards), ...(options.args ?? []), ...files], { env });
  }

  const run = (shards: number, ...names: Sample[]) => runWith({}, shards, ...names);

  async function runWith(options: Options, shards: number, ...names: Sample[]) {
    const child = start(shards, names, options);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text));
    const [code] = await once(child, 'close');
    return { code, printed, lines: printed.trimEnd().split('\n') };
  }

  const lastLine = (lines: readonly string[]) => lines.at(-1);

  it('runs every file once, in any shard, and ends with the totals', async () => {
    const { code, lines } = await run(3, 'passing', 'passing', 'passing', 'passing', 'passing');
    assert.equal(lastLine(lines), '10 passed, 0 failed');
    assert.equal(code, 0);
    const named = lines.flatMap((line) => /(\d)-passing\.mjs {2}2 passed, 0 failed/.exec(line)?.[1] ?? []);
    assert.deepEqual(named.toSorted(), ['0', '1', '2', '3', '4']);
  });

  it('counts skipped specs, and names them', async () => {
    const { code, printed, lines } = await run(1, 'skipping');
    assert.equal(lastLine(lines), '1 passed, 0 failed, 1 skipped');
    assert.match(printed, /skipped: .*0-skipping\.mjs: a sum on another machine/);
    assert.equal(code, 0);
  });

  const servers = [
    { sample: 'realStore', name: 'the real event store', flag: '--require-real-store', set: 'EVENTSTOREDB' },
    { sample: 'realChains', name: 'real chain nodes', flag: '--require-real-nodes', set: 'GETH, SOLANA and STELLAR' },
  ] as const;
  for (const { sample, name, flag, set } of gateCases(servers, (_, index) => index === 0)) {
    describe(`on specs of ${name}`, () => {
      it('counts them as skipped where no start program is set, and names them', async () => {
        const { code, printed, lines } = await run(1, sample, 'passing');
        assert.equal(lastLine(lines), '2 passed, 0 failed, 2 skipped');
        assert.match(printed, new RegExp(`skipped: .*0-${sample}\\.mjs: a server is read\\n`));
        assert.match(printed, new RegExp(`skipped: .*0-${sample}\\.mjs: a server is written\\n`));
        assert.equal(code, 0);
      });

      it('fails where they are required and were skipped', async () => {
        const { code, printed } = await runWith({ args: [flag] }, 1, sample, 'passing');
        assert.match(printed, new RegExp(`2 specs of .*0-${sample}\\.mjs were skipped: set ${set}`));
        assert.equal(code, 1);
      });

      it('fails where they are required and there are none', async () => {
        const { code, printed } = await runWith({ args: [flag], start: 'start' }, 1, 'passing');
        assert.match(printed, new RegExp(`no spec of ${name} has run`));
        assert.equal(code, 1);
      });

      it('passes where they are required and have run', async () => {
        const { code, lines } = await runWith({ args: [flag], start: 'start' }, 1, sample);
        assert.equal(lastLine(lines), '2 passed, 0 failed');
        assert.equal(code, 0);
      });
    });
  }

  it('shows each failure in full, with its cause, behind all files', async () => {
    const { code, printed, lines } = await run(2, 'failing', 'passing', 'brokenBefore');
    assert.equal(lastLine(lines), '3 passed, 2 failed');
    assert.equal(code, 1);
    const at = lines.findIndex((line) => line.includes('0-failing.mjs  1 passed, 1 failed'));
    assert.match(lines[at + 1] ?? '', /^ +✖ a sum is wrong$/);
    const failures = printed.slice(printed.lastIndexOf('passing.mjs'));
    assert.match(
      failures,
      /\d\) .*0-failing\.mjs: a sum is wrong\n\n {3}Error: 1 \+ 1 is not 3\n {7}at .*0-failing\.mjs:3/,
    );
    assert.match(failures, /caused by Error: nor 4/);
    assert.match(failures, /\d\) .*2-brokenBefore\.mjs: a sum "before all" hook.*\n\n {3}Error: no numbers/);
  });

  it('fails when a file has no test, cannot be read or is not there', async () => {
    const { code, printed, lines } = await run(1, 'empty', 'unreadable', 'passing');
    assert.equal(lastLine(lines), '2 passed, 2 failed');
    assert.match(printed, /0-empty\.mjs: has no test/);
    assert.match(printed, /1-unreadable\.mjs: cannot be loaded\n\n {3}SyntaxError/);
    assert.equal(code, 1);
  });

  it('fails when a shard dies, and gives its other files to the others', async () => {
    const { code, printed, lines } = await run(2, 'dying', 'passing', 'passing', 'passing');
    assert.equal(lastLine(lines), '6 passed, 1 failed');
    assert.match(printed, /0-dying\.mjs: the shard ended with SIGKILL/);
    assert.equal(code, 1);
  });

  it('fails when no shard is left for a file', async () => {
    const { code, printed, lines } = await run(1, 'passing', 'dying', 'passing');
    assert.equal(lastLine(lines), '2 passed, 2 failed');
    assert.match(printed, /2-passing\.mjs: was run by no shard/);
    assert.equal(code, 1);
  });

  it('runs every file, and no more worlds at once than there are processors', async () => {
    const most = Math.max(availableParallelism(), 2);
    const { lines } = await run(most + 2, ...Array(2 * most + 1).fill('world'), 'passing', 'passing');
    assert.equal(lastLine(lines), `${2 * most + 1 + 4} passed, 0 failed`);
    let running = 0;
    for (const mark of readFileSync(join(folder, 'worlds.txt'), 'utf8')) {
      running += mark === '+' ? 1 : -1;
      assert.ok(running <= most, `${running} worlds at once`);
    }
  });

  it('runs the files that share a world in one shard, which goes on to others', async () => {
    const { lines } = await run(3, 'sharing', 'passing', 'sharing', 'passing', 'sharing', 'sharing');
    assert.equal(lastLine(lines), '8 passed, 0 failed');
    const pids = readFileSync(join(folder, 'sharing.txt'), 'utf8').trim().split('\n');
    assert.deepEqual([pids.length, new Set(pids).size], [4, 1]);
  });

  it('ends a shared world before the shard runs other files', async () => {
    const { lines } = await run(1, 'sharing', 'afterSharing', 'sharing');
    assert.equal(lastLine(lines), '3 passed, 0 failed');
  });

  it('runs two groups of such files in different shards, if one shard takes no worlds', async () => {
    const { lines } = await run(3, 'world', 'world', 'sharingNodes', 'sharing', 'sharingNodes', 'sharing');
    assert.equal(lastLine(lines), '6 passed, 0 failed');
  });

  it('runs the cases of the gate, and with --full those of the full suite', async () => {
    assert.match((await run(1, 'manyCases')).printed, /skipped: .*: gate\n/);
    assert.match((await runWith({ args: ['--full'] }, 1, 'manyCases')).printed, /skipped: .*: full\n/);
  });

  it('has every spec file in the full suite, and in the gate those that are not named as full', () => {
    const [gate, full] = [specFiles({ full: false }), specFiles({ full: true })];
    const own = globSync('test/**/*.test.ts').filter((file) => !file.includes('node_modules'));
    assert.deepEqual(full.toSorted(), own.toSorted());
    assert.deepEqual(
      full.filter((file) => !gate.includes(file)).toSorted(),
      full.filter((file) => file.endsWith('.full.test.ts')).toSorted(),
    );
    assert.ok(gate.length < full.length);
  });

  const itOnLinux = isFull && existsSync('/proc/self/stat') ? it : it.skip;

  itOnLinux(
    'counts the processor time of a file: its shard, its children, and processes without a parent',
    async () => {
      const times = join(folder, 'times.json');
      const names = ['busyShard', 'busyChild', 'busyOrphan'] as const;
      const { code, lines } = await runWith(
        { args: ['--times', times] },
        1,
        'light',
        ...names.flatMap((name) => [name, 'light'] as const),
      );
      assert.equal(code, 0);
      const { processor_s, files } = JSON.parse(readFileSync(times, 'utf8')) as Times;
      const used = (which: string) => files.filter(({ name }) => name.includes(which)).map((file) => file.processor_s);
      const busy = names.flatMap(used);
      assert.ok(Math.max(...used('light')) < Math.min(...busy), JSON.stringify(files));
      assert.ok(files.reduce((sum, file) => sum + file.processor_s, 0) <= processor_s);
      for (const line of lines.slice(0, files.length)) assert.match(line, /\d\.\d s, \d+\.\d s processor$/);
      assert.match(lines.at(-3) ?? '', /^\d+\.\d s, \d+\.\d s processor$/);
    },
  );

  it('shows the output of a file with it', async () => {
    const { lines } = await run(1, 'printing');
    const at = lines.findIndex((line) => line.includes('0-printing.mjs'));
    assert.match(lines[at + 1] ?? '', /│ one and one/);
  });

  it('fails when folders or processes are left behind, and removes them', async () => {
    const { code, printed, lines } = await run(1, 'littering', 'leaving');
    assert.equal(lastLine(lines), '2 passed, 2 failed');
    assert.match(printed, /left in the temporary directory: shard-1\/forgotten-/);
    assert.match(printed, /left running: pid \d+: sleep 600/);
    assert.equal(code, 1);
    leavesNothing();
  });

  it('prints earlier failures and leaves nothing behind when it is interrupted', async () => {
    const child = start(2, ['failing', 'hanging', 'hanging']);
    let printed = '';
    child.stdout?.on('data', (text) => (printed += text));
    const runFolder = () => readdirSync(folder).find((name) => name.startsWith('payment-intents-suite-')) ?? '';
    const started = (shard: string) => existsSync(join(folder, runFolder(), shard, 'started'));
    while (!(started('shard-1') && started('shard-2'))) await sleep(20);
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'close'), [130, null]);
    assert.match(printed, /stopping …\n\n1\) .*0-failing\.mjs: a sum is wrong\n\n {3}Error: 1 \+ 1 is not 3/);
    leavesNothing();
  });

  function leavesNothing(): void {
    assert.deepEqual(processesIn(join(folder)), []);
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith('.mjs')),
      [],
    );
  }
});
