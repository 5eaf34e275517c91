/** Codes that the service mails, read from the folder of a sandbox's mailbox. */
import { openMailFolder } from '../../sandbox/mailFolder.ts';

export interface Mailed {
  /** Default: any address. */
  readonly to?: string;
  /** Words of the mail's subject or text. Default: any. */
  readonly words?: string;
}

/** Returns the newest code. Other mails, such as notices, may come before and after it. */
export const mailedCode = (folder: string, mailed: Mailed): string | undefined => codesIn(folder, mailed)[0]?.code;

/**
 * For a code that is not yet requested: one of an earlier request opens nothing.
 * @returns a function that reads the newest code mailed since this call
 */
export function codeMailedFromNow(folder: string, mailed: Mailed): () => string | undefined {
  const earlier = new Set(codesIn(folder, mailed).map(({ name }) => name));
  return () => codesIn(folder, mailed).find(({ name }) => !earlier.has(name))?.code;
}

/** Newest first. */
const codesIn = (folder: string, { to, words = '' }: Mailed) =>
  openMailFolder(folder)
    .list()
    .filter((mail) => (to === undefined || mail.to === to) && `${mail.subject} ${mail.text}`.includes(words))
    .flatMap(({ name, text }) => {
      const code = /Your code is (\d{6})/.exec(text)?.[1];
      return code === undefined ? [] : [{ name, code }];
    });
