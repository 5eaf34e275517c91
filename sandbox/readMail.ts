/** Reads a mail as the service writes them: headers and one text, in any of the encodings that mail has. */

export interface ReadMail {
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly date: string;
  readonly text: string;
}

export function readMail(mail: Buffer): ReadMail {
  const raw = mail.toString('latin1');
  const end = /\r?\n\r?\n/.exec(raw);
  const head = raw.slice(0, end?.index ?? raw.length).replaceAll(/\r?\n[ \t]+/g, ' ');
  const body = end ? raw.slice(end.index + end[0].length) : '';
  const header = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  return {
    to: decodedWords(header('To')),
    from: decodedWords(header('From')),
    subject: decodedWords(header('Subject')),
    date: header('Date'),
    text: decodedBody(body, header('Content-Transfer-Encoding').toLowerCase()).replaceAll('\r\n', '\n'),
  };
}

function decodedBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding === 'quoted-printable') return unquoted(body.replaceAll(/=\r?\n/g, ''));
  return Buffer.from(body, 'latin1').toString('utf8');
}

const unquoted = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

/** RFC 2047: `=?UTF-8?Q?caf=C3=A9?=`. */
const decodedWords = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString('utf8') : unquoted(word.replaceAll('_', ' ')),
    );
