/** The role `audit` and the process that it starts: the trusted parts of its report, and its end. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instant, instant } from '../../domain/time.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';
import { runAuditTool, runNightlyAudit } from '../../src/workers/audit/index.ts';
import { auditDirectory, type LastAudit, leaveLast, readLast, stale_ms } from '../../src/workers/audit/nightly.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const before: LastAudit = { at: instant(1_000), findings: 0, told: [], gaps: 0 };
const after: LastAudit = { at: instant(2_000), findings: 1, told: ['payinTwice payment-a'], gaps: 2 };
/** A clock without waits. */
const clock = { now: (): Instant => instant(Date.UTC(2026, 10, 21, 4)), sleep: async () => {} };
const never = new AbortController().signal;

describe('the process of an audit', () => {
  const directory = auditDirectory(temporaryDirectory());
  mkdirSync(directory);
  const file = join(directory, 'last.json');
  beforeEach(() => leaveLast(directory, before));

  /** A program instead of the audit. */
  function program(text: string): string {
    const path = join(directory, 'program.mjs');
    writeFileSync(path, `import { writeFileSync } from 'node:fs';\n${text}`);
    return path;
  }
  const leaving = `writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(JSON.stringify(after))});`;
  const run = (text: string, signal = never) => runAuditTool({ clock, directory, program: program(text) }, signal);

  it('is trusted when it leaves an outcome, whatever was found', async () => {
    for (const code of [0, 1, 2]) {
      leaveLast(directory, before);
      assert.deepEqual(await run(`${leaving} process.exitCode = ${code};`), after);
    }
  });

  it('is not trusted when it died with the code of findings: the outcome is of another night', async () => {
    await assert.rejects(run("throw new Error('no such module')"), /no such module/);
    await assert.rejects(run('process.exitCode = 1;'), /code 1 and left no outcome/);
    await assert.rejects(run(''), /code 0 and left no outcome/);
    assert.deepEqual(readLast(directory), before);
  });

  it('is not trusted when it reports itself that it did not finish', async () => {
    await assert.rejects(
      run(`${leaving} console.error('the node is away'); process.exitCode = 3;`),
      /the node is away/,
    );
  });

  it('is not trusted when its file is no outcome', async () => {
    for (const text of ['{', '{}', 'null', '{"at":"yesterday, or a bit before","findings":0,"told":[],"gaps":0}'])
      await assert.rejects(run(`writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(text)});`), /left no outcome/);
  });

  it('is killed when it must end and does not, and only then is it over', async () => {
    const [stop, pidFile] = [new AbortController(), join(directory, 'pid')];
    const running = run(
      `process.on('SIGTERM', () => {}); writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000);`,
      stop.signal,
    );
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await sleep(10);
    stop.abort(new Error('it took too long'));
    await assert.rejects(running, /it took too long/);
    assert.throws(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0), { code: 'ESRCH' });
  });

  it('is not even started when it must end already', async () => {
    await assert.rejects(run(leaving, AbortSignal.abort(new Error('stopped'))), /stopped/);
    assert.deepEqual(readLast(directory), before);
  });
});

describe('the role of the nightly audit', () => {
  it('reports findings and age as metrics and an alarm, from the process’s file', async () => {
    const dataDir = temporaryDirectory();
    const directory = auditDirectory(dataDir);
    mkdirSync(directory);
    leaveLast(directory, before);
    const [program, release] = [join(dataDir, 'program.mjs'), join(dataDir, 'release')];
    const outcome = JSON.stringify({ ...after, at: clock.now() });
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from 'node:fs';
       import { setTimeout } from 'node:timers/promises';
       while (!existsSync(${JSON.stringify(release)})) await setTimeout(10);
       writeFileSync(process.argv.at(-1) + '/last.json', ${JSON.stringify(outcome)});
       process.exitCode = 1;`,
    );
    const telemetry = createTelemetry(createLogger('silent'));
    const stop = new AbortController();
    const deps = {
      clock: { ...clock, sleep: (_: number, signal?: AbortSignal) => sleep(20, undefined, { signal }).catch(() => {}) },
      config: { dataDir, auditAt: '03:00' },
      leases: {
        hold: (_: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<void>) => work(signal),
        close: async () => {},
      },
      telemetry,
      program,
    };
    const role = runNightlyAudit(deps, stop.signal);
    const shown = async (): Promise<string> => telemetry.registry.metrics();
    let metrics = '';
    assert.match(await shown(), /^pi_audit_age_seconds 1\d{9}/m, 'the hour that was missed is made up');
    writeFileSync(release, '');
    const told = [/^pi_alarms_total\{reason="auditFailed"\} 1$/m, /^pi_audit_gaps 2$/m];
    while (told.some((each) => !each.test(metrics))) {
      await sleep(20);
      metrics = await shown();
    }
    assert.match(await shown(), /^pi_audit_findings 1$/m);
    assert.match(await shown(), /^pi_audit_age_seconds 0$/m);
    stop.abort();
    await role;
  });

  it('is explained to operators with the age at which it is an alarm', () => {
    const page = readFileSync(new URL('../../docs/operate/metrics.md', import.meta.url), 'utf8');
    const row = page.split('\n').find((line) => line.startsWith('| `pi_audit_age_seconds`'));
    assert.ok(row?.includes(`above ${stale_ms / 1_000},`), row);
  });
});
