import type { CrashPoint } from '../../commands/ports.ts';

/**
 * For crash tests of the real process: `payout.afterSign` ends the process with SIGKILL when it first comes to that point,
 * `payout.afterSign#3` when it comes there for the third time. Configuration refuses it in production.
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
