/** Proofs that a stream was under a root just as it is shown, or that it was not there. */
import { bitOf, depthMax, empty, keyOf, type Leaf, leafAt, leafOf, nodeOf, rootOf, type StreamTip } from './tree.ts';

/** From the root down: the hash of what is beside the stream's way at each depth, as hex. It ends where the stream is alone. */
export type Way = readonly string[];

/** What is at the end of a way instead of the stream: nothing, or another stream's leaf. */
export type Other = { readonly key: string; readonly revision: bigint; readonly link: string } | null;

/** @param leaves in the order of their keys, all of which begin with the key's first `from` bits */
export function wayTo(key: Buffer, leaves: readonly Leaf[], from = 0): Way {
  const beside: string[] = [];
  let here = leaves;
  for (let depth = from; here.length > 1; depth += 1) {
    const first = here.findIndex((leaf) => bitOf(leaf.key, depth) === 1);
    const cut = first < 0 ? here.length : first;
    const [left, right] = [here.slice(0, cut), here.slice(cut)];
    const [mine, others] = bitOf(key, depth) === 1 ? [right, left] : [left, right];
    beside.push(rootOf(others, depth + 1).hash.toString('hex'));
    here = mine;
  }
  return beside;
}

/** Whether the stream's newest event under that root was this one. @param root as a head holds it */
export const isUnder = (root: string, tip: StreamTip, way: Way): boolean => leads(leafOf(tip), way, root);

/** Whether there was no such stream under that root. */
export function isAbsent(root: string, stream: string, way: Way, other: Other): boolean {
  const key = keyOf(stream);
  if (other === null) return leads({ key, hash: empty.hash }, way, root);
  const leaf = leafAt(Buffer.from(other.key, 'hex'), other.revision, other.link);
  if (leaf.key.length !== key.length || leaf.key.equals(key)) return false;
  for (let depth = 0; depth < way.length; depth += 1) if (bitOf(leaf.key, depth) !== bitOf(key, depth)) return false;
  return leads(leaf, way, root);
}

function leads({ key, hash }: Leaf, way: Way, root: string): boolean {
  if (way.length > depthMax || !way.every((beside) => /^[0-9a-f]{64}$/.test(beside))) return false;
  let risen = hash;
  for (let depth = way.length - 1; depth >= 0; depth -= 1) {
    const beside = Buffer.from(way[depth] ?? '', 'hex');
    risen = bitOf(key, depth) === 1 ? nodeOf(beside, risen) : nodeOf(risen, beside);
  }
  return risen.toString('hex') === root;
}
