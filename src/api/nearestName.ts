/** Suggests a known name for one that is not known. */

/** Longer names are cut: what is compared is bounded. */
const compared = 32;

/** The known name that takes the fewest edits to reach; letter case, hyphens and underscores do not count. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let nearest: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (!nearest || distance < nearest.distance) nearest = { candidate, distance };
  }
  return nearest?.candidate;
}

const plain = (name: string): string => name.slice(0, compared).replaceAll(/[-_]/g, '').toLowerCase();

/** Levenshtein: single characters added, left out or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const [above = 0, left = 0, diagonal = 0] = [row[j], next[j - 1], row[j - 1]];
      next.push(Math.min(above + 1, left + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
