/** What the last audit saw of each stream, so that this one notices what was written anew since, seals and all. */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './entry.ts';
import { type Finding, findingAt } from './findings.ts';
import { createSpill, type Record as Sorted } from './spill.ts';
import type { TipSeen } from './streams.ts';

interface Tips {
  readonly revision: number;
  readonly link: string;
}

export interface TipsAudit {
  entry(entry: Entry): void;
  tip(tip: TipSeen): void;
  end(): void;
  /** What was seen is what the next audit compares with. */
  keep(): void;
}

export function auditTips(directory: string, find: (finding: Finding) => void): TipsAudit {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const index = join(directory, 'tips.json');
  const before: { readonly folder: string; readonly runs: readonly string[] } = existsSync(index)
    ? JSON.parse(readFileSync(index, 'utf8'))
    : { folder: '', runs: [] };
  const folder = before.folder === 'tips-a' ? 'tips-b' : 'tips-a';
  rmSync(join(directory, folder), { recursive: true, force: true });
  const seen = createSpill<Tips>({ directory: join(directory, folder), name: 'tips' });
  const known = createSpill<Tips>({
    directory: join(directory, before.folder || folder),
    name: 'tips',
    runs: before.runs,
  })
    .sorted()
    [Symbol.iterator]();
  let due = next();

  function next(): Sorted<Tips> | null {
    const step = known.next();
    return step.done ? null : step.value;
  }
  function gone({ key, value }: Sorted<Tips>, revision: number | null): void {
    const where = { stream: key, revision, id: null };
    find(findingAt('streamTruncated', where, `an earlier audit saw event ${value.revision}; it is gone`));
  }
  return {
    entry(entry) {
      for (; due && due.key < entry.stream; due = next()) gone(due, null);
      if (due?.key === entry.stream && due.value.revision === entry.revision && due.value.link !== entry.link)
        find(findingAt('streamChanged', entry, `an earlier audit saw ${due.value.link} here, now it is ${entry.link}`));
    },
    tip({ stream, revision, link }) {
      if (due?.key === stream) {
        if (due.value.revision > revision) gone(due, revision);
        due = next();
      }
      seen.add(stream, { revision, link });
    },
    end() {
      for (; due; due = next()) gone(due, null);
    },
    keep() {
      writeFileSync(`${index}.part`, JSON.stringify({ folder, runs: seen.flush() }), { mode: 0o600 });
      renameSync(`${index}.part`, index);
      if (before.folder !== '') rmSync(join(directory, before.folder), { recursive: true, force: true });
    },
  };
}
