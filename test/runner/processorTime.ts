/**
 * Processor time (user and system) of process trees, sampled from Linux's /proc. Elsewhere it is unknown.
 * A tree is a root process, its descendants, and each process whose TMPDIR is inside the tree's folder: specs start
 * many processes detached, and those lose their parent when it is killed.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

export interface ProcessTree {
  /** Returns the processor seconds that the tree has used until now; undefined where there is no /proc. */
  readSeconds(): number | undefined;
}

interface Tree {
  readonly folder: string | undefined;
  /** Ticks of ended processes that are in no living process's `children`. */
  ended: number;
}

/** Times are in clock ticks. */
interface Stat {
  readonly parent: number;
  readonly startedAt: number;
  readonly own: number;
  /** Time of the children that the process has waited for, and of theirs. */
  readonly children: number;
}

/** A process as the last sample found it. */
interface Process extends Stat {
  readonly tree: Tree;
}

type Processes = ReadonlyMap<number, Process>;

/** A process that ends without a parent loses the time it used since its last sample. */
const interval_ms = 250;
/** USER_HZ: 100 on every Linux. */
const ticksPerSecond = 100;
const attempts = 3;
const depthMax = 64;
const isLinux = existsSync('/proc/self/stat');

const trees: Tree[] = [];
let tracked: Processes = new Map();
/** Pids outside all trees. The sampler reads the environment of a new pid once. */
let foreign: ReadonlySet<number> = new Set();
let isSampling = false;

/** @param folder contains the TMPDIR of the tree's processes; without it only descendants of the root count */
export function watchProcesses(root: number | undefined, folder?: string): ProcessTree {
  const tree: Tree = { folder, ended: 0 };
  trees.push(tree);
  const stat = root === undefined ? undefined : readStat(root);
  if (root !== undefined && stat) tracked = new Map([...tracked, [root, { ...stat, tree }]]);
  if (isLinux && !isSampling) setInterval(sample, interval_ms).unref();
  isSampling = true;
  return { readSeconds: () => readSeconds([tree]) };
}

/** Returns the processor seconds of all trees until now; undefined where there is no /proc. */
export const readAllSeconds = (): number | undefined => readSeconds(trees);

function readSeconds(which: readonly Tree[]): number | undefined {
  if (!isLinux) return undefined;
  sample();
  let ticks = which.reduce((sum, { ended }) => sum + ended, 0);
  for (const process of tracked.values()) if (which.includes(process.tree)) ticks += usedBy(process);
  return ticks / ticksPerSecond;
}

const usedBy = ({ own, children }: Process): number => own + children;

function sample(): void {
  let now = readProcesses();
  // A process that ends during the sample may be in its parent's time or not: another sample tells.
  for (let attempt = 1; !now && attempt < attempts; attempt += 1) now = readProcesses();
  if (!now) return;
  keepEnded(tracked, now);
  tracked = now;
}

/** Returns undefined when a tracked process ended meanwhile. */
function readProcesses(): Processes | undefined {
  const now = new Map<number, Process>();
  const outside = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    if (foreign.has(pid)) outside.add(pid);
    else {
      const stat = readStat(pid);
      if (!stat && tracked.has(pid)) return undefined;
      if (!stat) continue;
      const tree = treeOf(pid, stat, now);
      if (tree) now.set(pid, { ...stat, tree });
      else outside.add(pid);
    }
  }
  foreign = outside;
  return now;
}

function treeOf(pid: number, stat: Stat, now: Processes): Tree | undefined {
  const known = tracked.get(pid);
  if (known?.startedAt === stat.startedAt) return known.tree;
  return now.get(stat.parent)?.tree ?? tracked.get(stat.parent)?.tree ?? treeByFolder(pid);
}

function treeByFolder(pid: number): Tree | undefined {
  const environment = readText(`/proc/${pid}/environ`);
  const at = environment.search(/(^|\0)TMPDIR=/);
  if (at < 0) return undefined;
  const folder = environment.slice(environment.indexOf('=', at) + 1).split('\0', 1)[0] ?? '';
  return trees.find((tree) => tree.folder !== undefined && `${folder}/`.startsWith(`${tree.folder}/`));
}

/**
 * Keeps the time of the processes that have ended since the last sample. The nearest living ancestor has it already if
 * each parent on the way waited for its child; what that ancestor's `children` did not grow by belongs to orphans.
 */
function keepEnded(before: Processes, now: Processes): void {
  const isLiving = (pid: number) => now.get(pid)?.startedAt === before.get(pid)?.startedAt;
  const endedBelow = new Map<number, number>();
  for (const [pid, process] of before) {
    if (isLiving(pid)) continue;
    const ancestor = livingAncestor(process, before, isLiving);
    if (ancestor === undefined) process.tree.ended += usedBy(process);
    else endedBelow.set(ancestor, (endedBelow.get(ancestor) ?? 0) + usedBy(process));
  }
  for (const [pid, ended] of endedBelow) {
    const grown = (now.get(pid)?.children ?? 0) - (before.get(pid)?.children ?? 0);
    const tree = now.get(pid)?.tree;
    if (tree) tree.ended += Math.max(ended - grown, 0);
  }
}

function livingAncestor(process: Process, before: Processes, isLiving: (pid: number) => boolean): number | undefined {
  let pid = process.parent;
  for (let depth = 0; depth < depthMax; depth += 1) {
    const parent = before.get(pid);
    if (!parent) return undefined;
    if (isLiving(pid)) return pid;
    pid = parent.parent;
  }
  return undefined;
}

const buffer = Buffer.alloc(1_024);

/** Reads with three calls: a run reads a hundred of these files four times a second. */
function readStat(pid: number): Stat | undefined {
  let text: string;
  try {
    const file = openSync(`/proc/${pid}/stat`, 'r');
    try {
      text = buffer.toString('latin1', 0, readSync(file, buffer));
    } finally {
      closeSync(file);
    }
  } catch {
    // The process has ended.
    return undefined;
  }
  // The command before the last parenthesis may contain spaces. The fields behind it begin with the state, which is field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), startedAt: field(22), own: field(14) + field(15), children: field(16) + field(17) };
}

/** Returns the empty text for a process that has ended or belongs to another user. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
