/** Checks of the service's machine. */
import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname, resolve } from 'node:path';

/** Verdicts of `npm run doctor`. */
export type DoctorVerdict = 'fine' | 'look' | 'broken';

/** Result of one check. */
export interface DoctorFinding {
  readonly verdict: DoctorVerdict;
  readonly what: string;
  readonly said: string;
  /** Remedy; omitted if there is nothing to do. */
  readonly todo?: string;
}

export interface Check {
  /** Subject of the check: `Postgres`, `Base (8453)`. */
  readonly area: string;
  look(signal: AbortSignal): Promise<readonly DoctorFinding[]>;
}

export interface Examined {
  readonly area: string;
  readonly findings: readonly DoctorFinding[];
}

export const fineFinding = (what: string, said: string): DoctorFinding => ({ verdict: 'fine', what, said });
export const look = (what: string, said: string, todo: string): DoctorFinding => ({
  verdict: 'look',
  what,
  said,
  todo,
});
export const broken = (what: string, said: string, todo: string): DoctorFinding => ({
  verdict: 'broken',
  what,
  said,
  todo,
});

export const errorReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Longer than the slowest node may take. */
const patience_ms = 90_000;

/**
 * Runs all checks concurrently. A failure or timeout is a finding.
 * @param onDone called as each ends
 * @returns in the order of the checks
 */
export function examine(checks: readonly Check[], onDone: () => void = () => {}): Promise<readonly Examined[]> {
  const one = async ({ area, look: findings }: Check): Promise<Examined> => {
    const signal = AbortSignal.timeout(patience_ms);
    const late = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => late.reject(new Error(`no answer in ${patience_ms / 1_000} s`)));
    try {
      return { area, findings: await Promise.race([findings(signal), late.promise]) };
    } catch (error) {
      return { area, findings: [broken('look', errorReason(error), 'mend what this says and run it again')] };
    } finally {
      onDone();
    }
  };
  return Promise.all(checks.map(one));
}

/** The worst of all findings. */
export function verdictOf(examined: readonly Examined[]): DoctorVerdict {
  const verdicts = new Set(examined.flatMap(({ findings }) => findings.map(({ verdict }) => verdict)));
  return verdicts.has('broken') ? 'broken' : verdicts.has('look') ? 'look' : 'fine';
}

/** Version in package.json. */
const nodeMajor = 24;
const GiB = 1024 ** 3;
/** The embedded event store accepts no event below its own reserve; a busy service needs about a gigabyte per day. */
const diskLeast_bytes = GiB;
const diskFew_bytes = 5 * GiB;
/** Memory of a service with all roles under load. */
const memoryFew_bytes = GiB / 2;

const inGiB = (bytes: number): string => `${(bytes / GiB).toFixed(1)} GiB`;

/** @param dataDir data directory of the service; it may not exist yet */
export const machineCheck = (dataDir: string): Check => ({
  area: 'This machine',
  look: async () => [nodeVersion(), ...(await disk(resolve(dataDir))), memory()],
});

function nodeVersion(): DoctorFinding {
  const major = Number(process.versions.node.split('.')[0]);
  const said = process.versions.node;
  return major === nodeMajor
    ? fineFinding('Node', said)
    : look('Node', `${said}, tried with ${nodeMajor}`, 'start it through npm, which brings the right one');
}

async function disk(dataDir: string): Promise<readonly DoctorFinding[]> {
  const folder = await nearest(dataDir);
  const writable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  const { bavail, bsize } = await statfs(folder);
  const free_bytes = bavail * bsize;
  const todo = 'make room before the event store stops taking events';
  const level = free_bytes < diskLeast_bytes ? broken : look;
  return [
    writable
      ? fineFinding('data directory', dataDir)
      : broken('data directory', `${folder} cannot be written`, 'give it to the user of the service, or set DATA_DIR'),
    free_bytes >= diskFew_bytes
      ? fineFinding('disk', `${inGiB(free_bytes)} free`)
      : level('disk', `${inGiB(free_bytes)} free`, todo),
  ];
}

/** The folder itself, or its nearest existing parent. */
async function nearest(folder: string): Promise<string> {
  const there = await access(folder).then(
    () => true,
    () => false,
  );
  return there || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

function memory(): DoctorFinding {
  const free_bytes = freemem();
  return free_bytes >= memoryFew_bytes
    ? fineFinding('memory', `${inGiB(free_bytes)} free`)
    : look('memory', `${inGiB(free_bytes)} free`, 'a service with all roles takes up to half a GiB');
}
