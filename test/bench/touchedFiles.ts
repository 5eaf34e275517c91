/**
 * Preloaded into a measured service (`node --import`). Each SIGUSR2 writes to TOUCHED_FILES the source files of which a
 * function ran since the previous SIGUSR2, from V8's call counts.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const report = process.env['TOUCHED_FILES'] ?? '';
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', () => {
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    const files = coverage.result
      .filter(({ url, functions }) => url.startsWith('file:') && functions.some(isCalled))
      .map(({ url }) => relative(root, fileURLToPath(url)));
    writeFileSync(`${report}.new`, JSON.stringify(files));
    renameSync(`${report}.new`, report);
  });
});

const isCalled = ({ ranges }: { readonly ranges: readonly { readonly count: number }[] }): boolean =>
  ranges.some(({ count }) => count > 0);
