import { domainToASCII } from 'node:url';

const emailMax = 254;
const localMax = 64;
/** RFC 5322's dot-atom: no quotes, no comments, nothing that a mail's header could be broken with. */
const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Host names of DNS; the last label is no number, so an IP address is none. */
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** What a domain may be written with: host names of all scripts, and none of what a URL parser would drop or decode. */
const written = /^[\p{L}\p{M}\p{N}.-]+$/u;

/**
 * The one spelling of an e-mail address, by which its person is known: lower case, the domain as DNS has it, so that letters which only
 * look alike stay different. Dots and `+tags` before the @ stay: whose mailbox they lead to is the mail server's matter.
 *
 * @returns undefined for text that is no address that mail can be sent to
 */
export function readEmail(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [before, after] = [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
  if (at < 1 || before.length > localMax || !local.test(before) || !written.test(after)) return undefined;
  const host = domainToASCII(after);
  const email = `${before}@${host}`;
  return domain.test(host) && email.length <= emailMax ? email : undefined;
}
