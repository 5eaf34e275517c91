/** The real process: clock and randomness behind the ports, crash points of tests, time to connect, and the environment of child processes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { uuidV8 } from '../../commands/paymentId.ts';
import type { Clock, CrashPoint, Ids } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';

/** Text of the last millisecond: one request reads the time several times. */
let last = { epoch_ms: 0, at: instant(0) };

export const systemClock: Clock = {
  now() {
    const epoch_ms = Date.now();
    if (epoch_ms !== last.epoch_ms) last = { epoch_ms, at: instant(epoch_ms) };
    return last.at;
  },
  sleep: (duration_ms, signal) =>
    delay(duration_ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
};

export const randomIds: Ids = {
  eventId: () => randomUUID(),
  paymentId: () => uuidV8(randomBytes(16)),
  secret: () => randomBytes(32).toString('hex'),
};

/**
 * For crash tests of the real process: `payout.afterSign` ends the process with SIGKILL at the first arrival at that point,
 * `payout.afterSign#3` at the third. Configuration refuses it in production.
 */
export function crashPointFrom(setting: string | undefined): CrashPoint {
  if (!setting) return () => {};
  const [name, count = '1'] = setting.split('#');
  let passings = 0;
  return (point) => {
    if (point !== name) return;
    passings += 1;
    if (passings === Number(count)) process.kill(process.pid, 'SIGKILL');
  };
}

/** Node's default is 250 ms: too little for a server on another continent whose other address has no route. */
const connectAttempt_ms = 2_000;

/** Gives each address of a name 2 s to connect, for every client of this process without a time of its own. */
export const allowSlowConnects = (): void => setDefaultAutoSelectFamilyAttemptTimeout(connectAttempt_ms);

/** Variables that any program needs. */
const passedOn: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TMP', 'TEMP', 'TZ', 'LANG', 'LANGUAGE'],
  ...['LD_LIBRARY_PATH', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'NODE_V8_COVERAGE'],
]);

/** Environment of a child process: only these variables, so no child has a key or a password of the service. */
export const childEnvironment = (environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => passedOn.has(name) || name.startsWith('LC_')));
