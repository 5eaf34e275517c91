/**
 * The sandbox's child processes. They outlive a service that is killed. Each is recorded with its pid and its start time, so
 * that the next start finds or ends exactly this process, and no other one that got its pid.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWhole } from '../src/lib/writeWhole.ts';
import { freePort } from './freePort.ts';

type Facts = Readonly<Record<string, string | number>>;

interface Recorded {
  readonly pid: number;
  /** Start time from the system. Pid and start time together identify a process. */
  readonly born: string;
  readonly facts: Facts;
}

export interface Children {
  /** The recorded child when it still runs and is usable, else a new one. */
  keep<F extends Facts>(
    name: string,
    start: () => Promise<{ readonly pid: number; readonly facts: F }>,
    usable: (facts: F) => Promise<boolean>,
  ): Promise<F>;
  record(name: string, pid: number, facts: Facts): void;
  /** The recorded child, when it is alive. */
  alive(name: string): Recorded | undefined;
  /** True while each recorded child is alive that nobody has ended. */
  allAlive(): boolean;
  /** Last record of a child, alive or not: its next start may use the same port. */
  last(name: string): Facts | undefined;
  /** Ends a child and waits until it is gone. */
  end(name: string): Promise<void>;
  endAll(): Promise<void>;
}

const polite_ms = 15_000;
const poll_ms = 25;
/** Another program may take a free port before this one does. */
const launchesMax = 3;

export function openChildren(file: string): Children {
  const recorded = new Map<string, Recorded>(Object.entries(readJson(file)));

  const save = () => {
    writeWhole(file, JSON.stringify(Object.fromEntries(recorded), null, 2));
  };

  const self: Children = {
    async keep(name, start, usable) {
      const known = self.alive(name);
      if (known && (await usable(known.facts as Parameters<typeof usable>[0]))) return known.facts as never;
      if (known) await self.end(name);
      const { pid, facts } = await start();
      self.record(name, pid, facts);
      return facts;
    },
    record(name, pid, facts) {
      recorded.set(name, { pid, born: bornAt(pid) ?? '', facts });
      save();
    },
    alive(name) {
      const child = recorded.get(name);
      return child && bornAt(child.pid) === child.born ? child : undefined;
    },
    allAlive: () => [...recorded].every(([name, { pid }]) => pid === 0 || self.alive(name) !== undefined),
    last: (name) => recorded.get(name)?.facts,
    async end(name) {
      const child = self.alive(name);
      if (child) await endProcess(child);
      if (child) recorded.set(name, { ...child, pid: 0 });
      save();
    },
    async endAll() {
      // The service records itself, too: it is the process that runs this.
      const others = [...recorded].filter(([, { pid }]) => pid !== process.pid);
      await Promise.all(others.map(([name]) => self.end(name)));
    },
  };
  return self;
}

/**
 * Launches a program on its former port if that is free, else on another one. All ports are below those of outgoing connections: any such
 * connection could otherwise hold the port at the restart.
 *
 * @param ports number of ports that the program uses, from the given one
 * @throws the error of the last launch
 */
export async function onSamePort<T>(lastUrl: unknown, launch: (port: number) => Promise<T>, ports = 1): Promise<T> {
  const last = portOf(lastUrl);
  for (let tries = 1; tries < launchesMax; tries += 1) {
    const port = tries === 1 && last > 0 ? last : await freePort(ports);
    const launched = await launch(port).catch(() => undefined);
    if (launched !== undefined) return launched;
  }
  return launch(await freePort(ports));
}

/** 0 for a value other than a URL with a port. */
export const portOf = (url: unknown): number => (typeof url === 'string' ? Number(URL.parse(url)?.port ?? 0) : 0);

async function endProcess({ pid, born }: Recorded): Promise<void> {
  const here = () => bornAt(pid) === born;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!here()) return;
    process.kill(pid, signal);
    for (let waited_ms = 0; waited_ms < polite_ms && here(); waited_ms += poll_ms) await sleep(poll_ms);
  }
}

/** When a live process began; undefined for none. */
export function bornAt(pid: number): string | undefined {
  if (pid === 0) return undefined;
  try {
    if (process.platform === 'linux') {
      // Counts fields from the last bracket on, because the name may contain spaces and brackets. Field 3 is the state, 22 the start.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function readJson(file: string): Record<string, Recorded> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
