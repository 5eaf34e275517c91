/** What nodes mean by their refusals. Codes are used for one thing here and another there, so the words decide where there are any. */

/** A node's own refusal of a call. */
export interface Refusal {
  readonly code: number | undefined;
  readonly message: string;
  /** The message, and what more it says as text. */
  readonly words: string;
}

/**
 * `limited`: too many calls at present. `lags`: what was asked for is there soon, or at another of the nodes behind the same address.
 * `passes`: it may go well soon. `final`: it stays so.
 */
export type Meaning = 'limited' | 'lags' | 'passes' | 'final';

/** EIP-1474 has -32005 for limits of any kind; Alchemy says 429, Base -32016, QuickNode -32007, others as here. */
const limitCodes: ReadonlySet<number> = new Set([429, -32005, -32029, -32090, -32605]);
const limitWords =
  /rate.?limit|rate exceeded|too many requests?\b|requests? limit|limited to \d+ ?(requests|\/)|capacity|rps limit|per second|the quota|too much load/i;
/** Limits of one call, which fewer calls do not help. */
const sizeWords =
  /range|returned more than|too many (results|inputs|logs)|max(imum)? results|response (size|too large)|number of address|\bbatch/i;
/** A node that says so may mean either: the same code and words stand for a method that is switched off (bsc-dataseed). */
const eitherWords = /^limit exceeded$/i;

/**
 * Solana: block not available -32004, behind -32005, status not yet there -32014. Context slots are its own family's matter. Geth up to
 * 1.16 answers "invalid block range params" to a range that ends above its newest block.
 */
const lagWords =
  /block status not yet|block not available for slot|node is (behind|unhealthy)|(unknown|missing) block|header( for hash)? not found|beyond (the )?current head|invalid block range params|^block not found/i;

/** An internal error, as JSON-RPC has it and as some spell it. */
const passingCodes: ReadonlySet<number> = new Set([-1, -32603]);

export function meaningOf({ code = 0, words }: Refusal): Meaning {
  if (lagWords.test(words)) return 'lags';
  const isSize = sizeWords.test(words) && code !== 429;
  if (!isSize && (limitCodes.has(code) || limitWords.test(words))) return 'limited';
  return passingCodes.has(code) ? 'passes' : 'final';
}

/** Whether the words may also say that the method is switched off. */
export const maySwitchedOff = ({ words }: Pick<Refusal, 'words'>): boolean => eitherWords.test(words);

const offWords =
  /(method|eth_\w+).*(not (supported|found|available|allowed|whitelisted|enabled)|disabled|does not exist|unsupported)|unsupported method|not included in your/i;

/** Whether the node never serves the method. */
export const isSwitchedOff = ({ code, words }: Pick<Refusal, 'code' | 'words'>): boolean =>
  code === -32601 || offWords.test(words);

/**
 * How many calls, blocks or accounts a node takes at most, where its refusal says so.
 * "maximum 10 calls in 1 batch", "limited to a 10,000 range", "up to a 2K block range", "Too many inputs provided; max 5",
 * "range 1000000 exceeds limit of 10000", "block range = 5120, max block range = 5000".
 */
export function mostSaid(words: string): number | undefined {
  if (/returned more than|results/i.test(words)) return undefined;
  const said =
    /(?:\bmax(?:imum)?\b[a-z ]*|up to an?|limit(?:ed)?(?: to| of)?(?: an?)?|ranges over|more than)(?: 0 -|[ :=])*(\d[\d,_]*)(k?)\b/i;
  const [, digits, thousands] = said.exec(words) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits.replaceAll(/[,_]/g, '')) * (thousands ? 1_000 : 1);
  return number > 0 && Number.isSafeInteger(number) ? number : undefined;
}

/**
 * What a node asks to wait before the next call.
 * @param headers of HTTP, in lower case: Retry-After has seconds or a date (RFC 9110, 10.2.3), which its own clock measures
 */
export function retryAfter_ms(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  words: string,
): number | undefined {
  const header = headers['retry-after'];
  if (typeof header === 'string') {
    if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1_000;
    const wait_ms = Date.parse(header) - Date.parse(String(headers['date']));
    if (Number.isFinite(wait_ms)) return Math.max(0, wait_ms);
  }
  const [, count, unit] = /(?:retry|again) (?:in|after) (\d+(?:\.\d+)?) ?(m?s)/i.exec(words) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'ms' ? 1 : 1_000);
}
