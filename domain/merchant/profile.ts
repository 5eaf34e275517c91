/** Profile that an app shows to payers. The log holds only its digest, so names and contacts can be removed. */
import { type Decision, isRefusal, type Refusal, refuse, refusedTogether } from '../decider.ts';
import { type MerchantEvent, type ProfileField, profileFields } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

export const urlMax = 2_048;

/**
 * Reads a URL from a request. Scheme and host may be in any case. Refuses text that a URL parser would silently drop or change: spaces,
 * control characters, backslashes, and a fragment if it is never sent.
 *
 * @param field its name in the request
 * @returns the canonical URL
 */
export function readHttpsUrl(
  text: string,
  field: string,
  { fragment }: { readonly fragment: boolean },
): string | Refusal {
  const refused = (problem: string) => refuse('invalidRequest', `${field} ${problem}`, `/${field}`);
  if (!/^https:\/\/[^/]/i.test(text)) return refused('must start with https:// and a host');
  if (/[\s\\\p{C}]/u.test(text))
    return refused('must not contain a space, control character or backslash: percent-encode it');
  if (!URL.canParse(text)) return refused('must be a URL');
  const url = new URL(text);
  if (url.username || url.password) return refused('must not contain a user name or password: they would be stored');
  if (!fragment && text.includes('#')) return refused('must not contain a fragment (#): it is never sent');
  if (url.href.length > urlMax) return refused(`is longer than ${urlMax} characters`);
  return url.href;
}

/** Control characters, direction and zero-width marks, private-use characters, lone surrogates, line ends. */
const unshowable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Reads a display name: one line without surrounding spaces.
 *
 * @param pointer of the field in the request
 */
export function readLabel(text: string, max: number, pointer: string): string | Refusal {
  const label = text.trim().normalize('NFC');
  if (label !== '' && label.length <= max && !unshowable.test(label)) return label;
  return refuse('invalidRequest', `${pointer} must be 1 to ${max} visible characters on one line`, pointer);
}

/** Null marks an unset field. */
export type Profile = { readonly [F in ProfileField]: string | null };

export const noProfile: Profile = {
  name: null,
  supportContact: null,
  returnUrlTemplate: null,
  colour: null,
  logo: null,
};

/** Fields that a request may change; the logo is uploaded separately. Omitted fields keep their values. */
export type ProfileChange = { readonly [F in Exclude<ProfileField, 'logo'>]?: string | null };

export const profileNameMax = 80;
export const contactMax = 254;

/** Reads a profile change field by field. Returns the canonical form or a refusal. */
export function readProfileChange(change: ProfileChange): ProfileChange | Refusal {
  const read: Record<string, string | null> = {};
  const refusals: Refusal[] = [];
  for (const [field, text] of Object.entries(change)) {
    const value = typeof text === 'string' ? readers[field as keyof ProfileChange](text) : null;
    if (isRefusal(value)) refusals.push(value);
    else read[field] = value;
  }
  return refusedTogether(refusals) ?? read;
}

const readers: { readonly [F in keyof Required<ProfileChange>]: (text: string) => string | Refusal } = {
  name: (text) => readLabel(text, profileNameMax, '/name'),
  supportContact: readContact,
  returnUrlTemplate: readReturnUrl,
  colour: readColour,
};

const refused = (field: ProfileField, problem: string): Refusal =>
  refuse('invalidRequest', `${field} ${problem}`, `/${field}`);

/** Matches an address whose domain has a dot. The merchant checks that the mailbox exists. */
const mailAddress = /^[^\s@<>"'(),:;\\[\]\p{C}]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/iu;

function readContact(text: string): string | Refusal {
  if (text.length > contactMax) return refused('supportContact', `must not be longer than ${contactMax} characters`);
  if (mailAddress.test(text)) return text;
  const url = readHttpsUrl(text, 'supportContact', { fragment: true });
  return isRefusal(url) ? refused('supportContact', 'must be an e-mail address or an https URL') : url;
}

export const returnUrlPlaceholders = ['paymentId', 'orderId', 'status'] as const;

/**
 * Reads an https URL. The placeholders {paymentId}, {orderId} and {status} are allowed only after the host, so an order's name cannot send
 * a buyer to another site.
 */
function readReturnUrl(text: string): string | Refusal {
  const field = 'returnUrlTemplate';
  const known = returnUrlPlaceholders.map((name) => `{${name}}`);
  const filled = known.reduce((rest, placeholder) => rest.replaceAll(placeholder, ''), text);
  if (/[{}]/.test(filled)) return refused(field, `accepts the placeholders ${known.join(', ')} and no other braces`);
  const [origin = ''] = /^https:\/\/[^/?#]*/i.exec(text) ?? [];
  if (/[{}]/.test(origin)) return refused(field, 'must not have a placeholder before its path');
  const url = readHttpsUrl(text, field, { fragment: true });
  // A URL parser percent-encodes braces in a path.
  return isRefusal(url) ? url : url.replaceAll('%7B', '{').replaceAll('%7D', '}');
}

/** URL that a buyer returns to. @param values by placeholder */
export const returnUrlOf = (
  template: string,
  values: Readonly<Record<(typeof returnUrlPlaceholders)[number], string>>,
): string =>
  returnUrlPlaceholders.reduce(
    (url, name) => url.replaceAll(`{${name}}`, encodeURIComponent(values[name].toWellFormed())),
    template,
  );

function readColour(text: string): string | Refusal {
  if (!/^#[0-9a-f]{6}$/i.test(text)) return refused('colour', 'must be of the form #rrggbb');
  return text.toLowerCase();
}

/** Returns the fields in which two profiles differ. */
export const changedFields = (before: Profile, after: Profile): ProfileField[] =>
  profileFields.filter((field) => before[field] !== after[field]);

/**
 * @param next digest of the whole profile
 * @param before digest of the profile that `next` was made from; another digest means a concurrent change
 */
export function setProfile(
  state: MerchantState,
  next: { readonly digest: string; readonly changed: ProfileField[] },
  before: string | null,
): Decision<MerchantEvent> {
  if (state.profile !== before) return refuse('conflict', 'the profile was changed at the same time: try again');
  return ofRegistered(state, [{ type: 'ProfileSet', data: next }]);
}
