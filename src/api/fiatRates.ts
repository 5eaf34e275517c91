/** Reads the operator's rates of currencies from a file or URL: at most once per hour, and only when an accounting file needs them. */
import { readFile, stat } from 'node:fs/promises';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { epochMs } from '../../domain/time.ts';
import { type FiatRates, fiatLimits, readFiatRates } from '../../queries/accounting.ts';

/** Null if the operator has configured none. @throws Unavailable */
export type GetFiatRates = () => Promise<FiatRates | null>;

const fresh_ms = 3_600_000;
/** Minimum interval between two reads of a source that failed. */
const again_ms = 30_000;
const answer_ms = 10_000;

export function createFiatRates(
  source: string | null,
  clock: Pick<Clock, 'now'>,
  get: typeof fetch = fetch,
): GetFiatRates {
  let known: { readonly rates: FiatRates; readonly at_ms: number } | null = null;
  let failed: { readonly error: Unavailable; readonly at_ms: number } | null = null;
  let reading: Promise<FiatRates> | null = null;

  async function read(from: string): Promise<FiatRates> {
    const now_ms = epochMs(clock.now());
    try {
      const rates = readFiatRates(await (from.startsWith('https:') ? download(from, get) : load(from)));
      known = { rates, at_ms: now_ms };
      failed = null;
      return rates;
    } catch (error) {
      failed = {
        error: new Unavailable('the rates of currencies cannot be read', again_ms / 1_000, { cause: error }),
        at_ms: now_ms,
      };
      // Yesterday's rates are better than none: each day's rate stays what it was.
      if (known) return known.rates;
      throw failed.error;
    }
  }

  return async () => {
    if (source === null) return null;
    const now_ms = epochMs(clock.now());
    if (known && now_ms - known.at_ms < fresh_ms) return known.rates;
    if (failed && now_ms - failed.at_ms < again_ms) {
      if (known) return known.rates;
      throw failed.error;
    }
    reading ??= read(source).finally(() => {
      reading = null;
    });
    return reading;
  };
}

async function load(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > fiatLimits.bytes) throw new RangeError(`the file has more than ${fiatLimits.bytes} bytes`);
  return readFile(path, 'utf8');
}

async function download(url: string, get: typeof fetch): Promise<string> {
  const answer = await get(url, { signal: AbortSignal.timeout(answer_ms), redirect: 'error' });
  if (!answer.ok || !answer.body) throw new Error(`the source answered ${answer.status}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body) {
    bytes += piece.byteLength;
    if (bytes > fiatLimits.bytes) throw new RangeError(`the answer has more than ${fiatLimits.bytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
