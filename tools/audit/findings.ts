/** Possible findings of an audit. Codes are stable: programs and alarms use them. */

/** Code → an operator's next step. */
export const findingRemedies = {
  linkBroken: 'somebody changed, removed or inserted an event before this one: compare with a backup of the log',
  revisionMissing: 'events of the stream are gone: restore the log from a backup and compare',
  orderBroken: 'the stream’s events stand in another order than they were written: compare with a backup of the log',
  sealWrong: 'the service did not write this event: find out who can write to the event store',
  schemaWrong: 'no version of the service writes such an event: find out who can write to the event store',
  streamChanged: 'an earlier audit saw another event there: whoever has MASTER_KEY can reseal; compare with a backup',
  streamTruncated: 'an earlier audit saw more of this stream: its end is gone; compare with a backup',
  headForged: 'the heads do not follow each other: compare with the heads that were published',
  headRootWrong: 'the log is not what this head was signed over: compare with a backup as old as the head',
  anchorWrong:
    'the transaction does not have this head’s hash for its memo: compare the head with those that others have kept',
  illegalEvent: 'no decision of the service leads to this event: find out who wrote it',
  payinTwice: 'one transfer is credited twice: stop payouts of the later payment and tell whose money it is',
  fundingWrong: 'what funded the payment is not what came in: check its payins on the chain',
  splitWrong: 'received is not payout + fee + excess + dust: somebody changed the decision',
  feeWrong: 'the fee is not what the payment’s own terms say: pay the difference back',
  payoutWrong: 'what was ordered, signed or paid is not what the payment’s terms say: compare receiver and amount',
  signedTwice: 'two attempts could land: find both transactions on the chain',
  paidTwice: 'a transfer of ours landed twice: ask the receiver for the second one, and pause payouts',
  refundBeyondCap: 'more goes back than came in: call the refund off if it is not signed',
  refundElsewhere:
    'the refund goes to nobody who paid, and to no address that a payer signed for: call it off if it is not signed',
  refundUnfunded: 'a refund and the payment that funds it do not agree: compare the streams of both payments',
  approvalMissing: 'money was to leave without the approval that it needs: ask who ordered it',
  notInAddressBook: 'money was to leave to an address that was not usable in the address book: ask who ordered it',
  webhookTwice: 'one event was told by itself more than once: tell the merchant which to ignore',
  webhookWrong: 'a webhook tells what did not happen so, or tells somebody else: tell the merchant to read the payment',
  webhookNeverSent:
    'its merchant was to be told more than a day ago: is the service running? npm run work says what waits for you',
  accountWrong: 'the account’s sum does not follow from what was earned and spent',
  outflowUnrecorded:
    'the treasury’s key signed something that nothing records: pause payouts, change the key, adopt it if it was you',
  outflowElsewhere:
    'the transaction paid somebody else, or another amount, than the log says: pause payouts, change the key',
  inflowUnrecorded: 'money came that the log knows nothing of: npm run rescan, then look whose it is',
  payinForged:
    'no transaction brings this payin to the payment’s deposit, from this sender, with this memo: stop its payout',
  payinDisowned: 'the log says this transfer left the chain, and it is there: its money is owed',
  settledByFailed: 'the log says it was paid, and the transaction failed: the receiver has nothing',
  settlementForged: 'the log says it was paid, and the chain has no such transaction',
  landedUnrecorded: 'an attempt landed long ago and the log does not say so: is the service running?',
  costWrong: 'gas or rent are not what the chain charged',
  sweptElsewhere: 'a deposit’s money went somewhere else than the treasury: the deposit key is not yours alone',
  transitOpen:
    'a rebalance burned more than was minted and charged, or was minted twice: find its message at the attestation service',
  mintForged:
    'the message of a rebalance is not that of its burn: pause payouts, find out who can write to the event store',
  adoptionWrong: 'what was adopted is not what the transaction did: ask the operator who adopted it',
  moneyMissing:
    'more left an account than the log records for the transaction: pause payouts, change the key, adopt it if it was you',
  booksOpen: 'the account holds another amount than recorded: npm run treasury -- books',
  rowDiffers: 'the read model is not what the log says: npm run rebuild',
  rowMissing: 'the log says this row exists: npm run rebuild',
  rowsOld:
    'the read models are older than the log: start the service; where it runs, somebody set them back: npm run rebuild',
  tableWrong:
    'the service did not make this table or view so: find out who writes to Postgres, drop it, then npm run rebuild',
  rowUnknown: 'no event leads to this row: find out who writes to Postgres, then npm run rebuild',
} as const;

export type FindingCode = keyof typeof findingRemedies;

export interface Finding {
  readonly code: FindingCode;
  /** Affected stream; for a read model, its table and key. */
  readonly stream: string;
  readonly revision: number | null;
  readonly eventId: string | null;
  readonly message: string;
  /** Transaction on its chain; null for a finding of the log alone. */
  readonly transaction: { readonly chainId: number; readonly hash: string; readonly block: string | null } | null;
}

/** A part that the audit could not check, and makes no statement about. */
export interface Gap {
  readonly of: string;
  readonly why: string;
}

/** Position of an event of the log. */
export interface EventPosition {
  readonly stream: string;
  readonly revision: number | null;
  readonly id: string | null;
}

/** Some messages contain text of other writers. */
const messageMax = 2_000;

export const findingAt = (
  code: FindingCode,
  { stream, revision, id }: EventPosition,
  message: string,
  transaction: Finding['transaction'] = null,
): Finding => ({ code, stream, revision, eventId: id, message: message.slice(0, messageMax), transaction });

// Keeps a maximum of findings of each kind, and counts all: thousands of one kind hide no other.

export const findingsOfKindMax = 100;

export interface Collector {
  find(finding: Finding): void;
  /** The first findings of each kind, in the order of streams. */
  found(): readonly Finding[];
  count(): number;
  /** Number of findings of each kind. */
  kinds(): Readonly<{ [kind: string]: number }>;
}

/** @param kindOf default: the code */
export function createCollector(kindOf: (finding: Finding) => string = ({ code }) => code): Collector {
  const findings: Finding[] = [];
  const counts = new Map<string, number>();
  const byPlace = (a: Finding, b: Finding): number =>
    a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : (a.revision ?? -1) - (b.revision ?? -1);
  return {
    find(finding) {
      const kind = kindOf(finding);
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= findingsOfKindMax) findings.push(finding);
    },
    found: () => findings.toSorted(byPlace),
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    kinds: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** One of each kind before a second of any. */
export function mixed(findings: readonly Finding[]): readonly Finding[] {
  const byKind = [...Map.groupBy(findings, ({ code }) => code).values()];
  return Array.from({ length: findingsOfKindMax }, (_, at) => byKind.flatMap((same) => same[at] ?? [])).flat();
}
