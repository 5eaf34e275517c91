/** Whether signed heads follow each other, and whether the log is still what the newest of them was signed over. */
import { checkHeads, type HeadsChecker, hashOfHead } from '../../commands/heads/chain.ts';
import { createRoot, keyOf, leafOf } from '../../commands/heads/tree.ts';
import { categoryOf } from '../../domain/decider.ts';
import type { HeadSigned, HeadsEvent } from '../../domain/heads/events.ts';
import type { Entry } from './entry.ts';
import { type Finding, findingAt } from './findings.ts';
import type { Spill } from './spill.ts';

export const headsStream = 'heads-log';
/** So many entries behind its head at most an anchor is compared with it: more are not kept in memory. */
const anchoredWithin = 50_000;

/** As the leaf of a stream needs it. */
export interface Leaf {
  readonly stream: string;
  readonly revision: number;
  readonly link: string;
}

export interface HeadsAudit {
  /** Each believed event, stream by stream. */
  good(entry: Entry): void;
  /** After the last one. */
  end(): void;
}

/** A head that the auditor holds: another one must not stand in its place. */
export interface KeptHead {
  readonly number: number;
  readonly root: string;
}

/** @param newest of the log, found when it was read; null where there is none */
export function auditHeads(
  newest: Entry | null,
  {
    leaves,
    find,
    kept = [],
    key,
  }: {
    readonly leaves: Spill<Leaf>;
    readonly find: (finding: Finding) => void;
    readonly kept?: readonly KeptHead[];
    /** That the first head must be signed with. */
    readonly key?: string;
  },
): HeadsAudit {
  const checker: HeadsChecker = checkHeads(key === undefined ? {} : { key });
  const hashes = new Map<number, string>();
  const head = newest?.data as HeadSigned | undefined;
  const covered = new Set(head?.categories);
  let last: Entry | null = null;
  let [events, streams] = [0n, 0n];

  function settle(): void {
    if (!last) return;
    const { stream, revision, link } = last;
    leaves.add(keyOf(stream).toString('hex'), { stream, revision, link });
    events += BigInt(revision) + 1n;
    streams += 1n;
    last = null;
  }
  return {
    good(entry) {
      if (last && last.stream !== entry.stream) settle();
      if (entry.stream === headsStream) return checkEntry(entry);
      if (head && covered.has(categoryOf(entry.stream)) && BigInt(entry.position) <= BigInt(head.position))
        last = entry;
    },
    end() {
      settle();
      if (!head || !newest) return;
      const root = createRoot();
      for (const { value } of leaves.sorted()) root.add(leafOf({ ...value, revision: BigInt(value.revision) }));
      const found = root.end().hash.toString('hex');
      if (found !== head.root || events !== BigInt(head.events) || streams !== BigInt(head.streams))
        find(
          findingAt(
            'headRootWrong',
            newest,
            `head ${head.number} was signed over ${head.events} events of ${head.streams} streams; up to there the log has ${events} of ${streams}, and another root`,
          ),
        );
    },
  };

  function checkEntry(entry: Entry): void {
    const event = { type: entry.type, data: entry.data } as HeadsEvent;
    const problem = checker.next(event);
    if (problem) find(findingAt('headForged', entry, `head ${problem.number}: ${problem.message}`));
    checkAnchor(entry, event);
    const held = kept.find(({ number }) => number === event.data.number);
    if (held && !('root' in event.data && event.data.root === held.root))
      find(findingAt('headForged', entry, `head ${held.number} had the root ${held.root} when it was kept`));
  }

  /** An anchor is of a head before it, lately signed; of which hash the memo is, the chain shows. */
  function checkAnchor(entry: Entry, event: HeadsEvent): void {
    const { number } = event.data;
    if (event.type === 'HeadSigned') hashes.set(number, hashOfHead(event));
    hashes.delete(number - anchoredWithin);
    if (event.type !== 'HeadAnchored') return;
    const { head: of, headHash } = event.data;
    const isFar = of <= number - anchoredWithin;
    if (!isFar && hashes.get(of) !== headHash)
      find(findingAt('headForged', entry, `head ${number}: ${headHash} is not the hash of head ${of}`));
  }
}
