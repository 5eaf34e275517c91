/** What an audit that came to its end leaves in a file beside its others, so that a restart knows it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { closed, Text, Time } from '../../../domain/schema.ts';

const LastAudit = Type.Object(
  {
    /** When it came to its end. */
    at: Time,
    findings: Type.Integer({ minimum: 0 }),
    /** Of the first findings: code and stream. */
    told: Type.Array(Text(1_000), { maxItems: 5 }),
    /** What could not be looked at. */
    gaps: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type LastAudit = Static<typeof LastAudit>;

/** Of the audit's files, where nobody names another. */
export const auditDirectory = (dataDir: string): string => join(dataDir, 'audit');

const fileIn = (directory: string): string => join(directory, 'last.json');

/** @param directory of the audit's files. @returns null where none has come to its end, or what is there is no outcome */
export function readLast(directory: string): LastAudit | null {
  try {
    const left: unknown = JSON.parse(readFileSync(fileIn(directory), 'utf8'));
    return Value.Check(LastAudit, left) && !Number.isNaN(Date.parse(left.at)) ? left : null;
  } catch {
    return null;
  }
}

/** Crash anywhere: the file is the one before, or this. */
export function leaveLast(directory: string, { told, ...last }: LastAudit): void {
  const file = fileIn(directory);
  const short = told.slice(0, 5).map((each) => each.slice(0, 1_000));
  writeFileSync(`${file}.part`, JSON.stringify({ ...last, told: short }), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
