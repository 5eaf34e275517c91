/** Mails as files: the newest few hundred. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../src/lib/writeWhole.ts';
import { type ReadMail, readMail } from './readMail.ts';

const mailsMax = 500;
const nameOf = /^\d{8}T\d{9}Z-\d{6}$/;

export interface MailFolder {
  /** @returns the mail's name */
  keep(mail: Buffer, at: Date): string;
  /** Newest first. */
  list(): readonly (ReadMail & { readonly name: string })[];
  /** Undefined for a name that no mail has. */
  read(name: string): ReadMail | undefined;
}

export function openMailFolder(folder: string): MailFolder {
  mkdirSync(folder, { recursive: true });
  const names = () =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.eml'))
      .map((file) => file.slice(0, -'.eml'.length))
      .filter((name) => nameOf.test(name))
      .sort();
  const fileOf = (name: string) => join(folder, `${name}.eml`);
  let count = names().length;

  function read(name: string): ReadMail | undefined {
    if (!nameOf.test(name)) return undefined;
    try {
      return readMail(readFileSync(fileOf(name)));
    } catch {
      return undefined;
    }
  }

  return {
    read,
    keep(mail, at) {
      count += 1;
      const name = `${at.toISOString().replaceAll(/[-:.]/g, '')}-${String(count % 1_000_000).padStart(6, '0')}`;
      writeWhole(fileOf(name), mail);
      for (const old of names().slice(0, -mailsMax)) rmSync(fileOf(old), { force: true });
      return name;
    },
    list: () =>
      names()
        .reverse()
        .flatMap((name) => {
          const mail = read(name);
          return mail ? [{ ...mail, name }] : [];
        }),
  };
}
