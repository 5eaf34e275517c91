/** Chooses between media types by a request's Accept header (RFC 9110, 12.5.1), in time that no header can make long. */

/** Characters and ranges of the header that are read; the rest is ignored. Browsers send about 150 characters and 8 ranges. */
const charactersMax = 1_000;
const rangesMax = 32;

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Returns the header's first ranges, in lower case. */
function rangesOf(accept: string): readonly Range[] {
  return accept
    .slice(0, charactersMax)
    .split(',', rangesMax)
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    });
}

/** Returns how much the header wants exactly this type; 0 if it does not name the type. */
export const qualityOf = (accept: string | undefined, type: string): number =>
  rangesOf(accept ?? '').findLast((range) => range.type === type)?.quality ?? 0;

/** Returns true unless the header prefers JSON to HTML: programs do, browsers do not. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  const ranges = rangesOf(accept);
  const html = matchOf(ranges, 'text/html');
  const json = matchOf(ranges, 'application/json');
  if (!json) return true;
  if (!html) return false;
  const preference = html.quality - json.quality || html.exactness - json.exactness || json.place - html.place;
  return preference >= 0;
}

/** Returns the most exact range that covers the type; undefined if none does, or only with quality 0. */
function matchOf(ranges: readonly Range[], type: string) {
  const spellings = ['*/*', `${type.split('/')[0]}/*`, type];
  let best: { readonly quality: number; readonly exactness: number; readonly place: number } | undefined;
  for (const [place, range] of ranges.entries()) {
    const exactness = spellings.indexOf(range.type);
    if (exactness > (best?.exactness ?? -1)) best = { quality: range.quality, exactness, place };
  }
  return best && best.quality > 0 ? best : undefined;
}

/**
 * Returns the first of these encodings that the Accept-Encoding header accepts (RFC 9110, 12.5.3); null where the body goes as it is. A header
 * that accepts nothing else gets the body as it is, too.
 *
 * @param offered best first
 */
export function encodingOf<E extends string>(acceptEncoding: string | undefined, offered: readonly E[]): E | null {
  const ranges = rangesOf(acceptEncoding ?? '');
  const qualityOfCoding = (coding: string): number =>
    (ranges.findLast(({ type }) => type === coding) ?? ranges.findLast(({ type }) => type === '*'))?.quality ?? 0;
  return offered.find((coding) => qualityOfCoding(coding) > 0) ?? null;
}
