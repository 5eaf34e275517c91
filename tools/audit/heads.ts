/** Checks that signed heads follow each other, and that the log still matches the newest of them, and some earlier ones. */
import { checkHeads, type HeadsChecker, hashOfHead } from '../../commands/heads/chain.ts';
import { createRoot, leafOf, streamKey } from '../../commands/heads/tree.ts';
import { categoryOf } from '../../domain/decider.ts';
import type { HeadSigned, HeadsEvent } from '../../domain/heads/heads.ts';
import type { AuditEntry } from './entry.ts';
import { type Finding, findingAt } from './findings.ts';
import type { Spill } from './spill.ts';
import type { AuditState } from './state.ts';

export const headsLogStream = 'heads-log';
/** Maximum distance of an anchor to its head: more entries are not kept in memory. */
const anchoredWithin = 50_000;

/** Number of heads compared with the log: the first, the newest, and others evenly between them. Each costs a root over all streams. */
export const headsMax = 4;

/** Adds to the kept heads; above the maximum, removes the one with the closest neighbours. */
export function withHead(kept: readonly AuditEntry[], next: AuditEntry): readonly AuditEntry[] {
  const all = [...kept, next];
  if (all.length <= headsMax) return all;
  const gaps = all.slice(1, -1).map((_, at) => (all[at + 2]?.revision ?? 0) - (all[at]?.revision ?? 0));
  return all.toSpliced(1 + gaps.indexOf(Math.min(...gaps)), 1);
}

/** Each once. */
export const comparedHeads = ({ heads, held }: Pick<AuditState, 'heads' | 'held'>): readonly AuditEntry[] => [
  ...new Map([...heads, ...held].map((entry) => [entry.revision, entry])).values(),
];

interface Tip {
  readonly revision: number;
  readonly link: string;
}

/** A stream's newest event as of each head; null before the stream existed. */
export interface AuditLeaf {
  readonly stream: string;
  readonly tips: readonly (Tip | null)[];
}

export interface HeadsAudit {
  /** Receives each valid event, stream by stream. */
  good(entry: AuditEntry): void;
  /** Called after the last one. */
  end(): void;
}

/** A head that the auditor holds: another one must not replace it. */
export interface KeptHead {
  readonly number: number;
  readonly root: string;
}

export interface HeadsAuditDeps {
  readonly leaves: Spill<AuditLeaf>;
  readonly find: (finding: Finding) => void;
  readonly kept?: readonly KeptHead[];
  /** Required key of the first head. */
  readonly key?: string;
}

/** @param heads of the log to compare with */
export function auditHeads(heads: readonly AuditEntry[], deps: HeadsAuditDeps): HeadsAudit {
  const { leaves, find } = deps;
  const entries = createEntryCheck(deps);
  const asked = heads.map((entry) => {
    const head = entry.data as HeadSigned;
    return { entry, head, position: BigInt(head.position), covered: new Set(head.categories), events: 0n, streams: 0n };
  });
  let current: { readonly stream: string; readonly tips: (Tip | null)[] } | null = null;

  function settle(): void {
    if (current?.tips.some((tip) => tip !== null)) leaves.add(streamKey(current.stream).toString('hex'), current);
    for (const [at, tip] of (current?.tips ?? []).entries()) {
      const of = asked[at];
      if (!tip || !of) continue;
      of.events += BigInt(tip.revision) + 1n;
      of.streams += 1n;
    }
    current = null;
  }
  return {
    good(entry) {
      if (current?.stream !== entry.stream) settle();
      if (categoryOf(entry.stream) === 'heads') return entries.next(entry);
      const { stream, revision, link } = entry;
      current ??= { stream, tips: asked.map(() => null) };
      for (const [at, { covered, position }] of asked.entries())
        if (covered.has(categoryOf(stream)) && BigInt(entry.position) <= position)
          current.tips[at] = { revision, link };
    },
    end() {
      settle();
      entries.end();
      const roots = asked.map(() => createRoot());
      for (const { value } of leaves.sorted())
        for (const [at, tip] of value.tips.entries())
          if (tip) roots[at]?.add(leafOf({ stream: value.stream, revision: BigInt(tip.revision), link: tip.link }));
      for (const [at, { entry, head, events, streams }] of asked.entries()) {
        const found = roots[at]?.end().hash.toString('hex');
        if (found === head.root && events === BigInt(head.events) && streams === BigInt(head.streams)) continue;
        const what = `head ${head.number} was signed over ${head.events} events of ${head.streams} streams; up to there the log has ${events} of ${streams}, and another root`;
        find(findingAt('headRootWrong', entry, what));
      }
    },
  };
}

/** Compares the entries of `heads-log` with each other, and with the auditor's own. */
function createEntryCheck({ find, kept = [], key }: HeadsAuditDeps): { next(entry: AuditEntry): void; end(): void } {
  const checker: HeadsChecker = checkHeads(key === undefined ? {} : { key });
  const checkAnchor = createAnchorCheck(find);
  const missing = new Map(kept.map((each) => [each.number, each]));
  let last: AuditEntry | null = null;
  let covered: readonly string[] = [];

  function checkKept(entry: AuditEntry, { data }: HeadsEvent): void {
    for (const { number, root } of kept)
      if (number === data.number && !('root' in data && data.root === root))
        find(findingAt('headForged', entry, `head ${number} had the root ${root} when it was kept`));
    missing.delete(data.number);
  }
  /** Events that a head does not cover could be rewritten. */
  function checkCovered(entry: AuditEntry, event: HeadsEvent): void {
    if (event.type !== 'HeadSigned') return;
    const { categories, number } = event.data;
    const less = covered.filter((category) => !categories.includes(category));
    if (less.length > 0)
      find(
        findingAt('headForged', entry, `head ${number} covers no ${less.join(', ')} any more, as one before it did`),
      );
    covered = [...new Set([...covered, ...categories])];
  }
  return {
    next(entry) {
      if (entry.stream !== headsLogStream)
        return find(findingAt('illegalEvent', entry, `heads stand in ${headsLogStream} alone`));
      const event = { type: entry.type, data: entry.data } as HeadsEvent;
      const problem = checker.next(event);
      if (problem) find(findingAt('headForged', entry, `head ${problem.number}: ${problem.message}`));
      checkAnchor(entry, event);
      checkCovered(entry, event);
      checkKept(entry, event);
      last = entry;
    },
    end() {
      const where = last ?? { stream: headsLogStream, revision: null, id: null };
      for (const { number, root } of missing.values())
        find(findingAt('headForged', where, `head ${number} had the root ${root} when it was kept; it is gone`));
    },
  };
}

/** An anchor belongs to a recent earlier head; the chain has the memo's hash. */
function createAnchorCheck(find: HeadsAuditDeps['find']): (entry: AuditEntry, event: HeadsEvent) => void {
  const hashes = new Map<number, string>();
  return (entry, event) => {
    const { number } = event.data;
    if (event.type === 'HeadSigned') hashes.set(number, hashOfHead(event));
    hashes.delete(number - anchoredWithin);
    if (event.type !== 'HeadAnchored') return;
    const { head: of, headHash } = event.data;
    const isFar = of <= number - anchoredWithin;
    if (!isFar && hashes.get(of) !== headHash)
      find(findingAt('headForged', entry, `head ${number}: ${headHash} is not the hash of head ${of}`));
  };
}
