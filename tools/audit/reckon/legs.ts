/** One outgoing transfer, recomputed from its events alone, without the product's decisions. */
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import type { AttemptClaim, Out } from '../claims.ts';
import type { AuditEntry } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';

/** The order. */
export interface AuditedOrder {
  readonly chainId: number;
  readonly asset: string;
  readonly receiver: string;
  readonly memo: string | null;
  readonly amount: bigint;
  readonly form: AttemptClaim['form'];
  readonly from?: AttemptClaim['from'];
  readonly coinAlong?: AttemptClaim['coinAlong'];
  readonly purpose: AttemptClaim['purpose'];
  /** Owner within the treasury, if the order names one. */
  readonly owner: string | null;
}

/** Order of a payout or refund. */
export const orderedOf = (
  { chainId, token, receiverAddress, receiverMemo, amount }: AuditEntry['data'],
  purpose: AuditedOrder['purpose'],
): AuditedOrder => ({
  chainId,
  asset: token.address,
  receiver: receiverAddress,
  memo: receiverMemo,
  amount: BigInt(amount),
  form: null,
  purpose,
  owner: null,
});

interface Attempt {
  readonly entry: AuditEntry;
  fate: AttemptClaim['fate'];
  /** It can never land and has not used up its nonce. */
  lapsed: boolean;
  /** It landed short, and an operator retried it. */
  retried: boolean;
  /** It landed and only opened an account for the next attempt. */
  opened: boolean;
  landed: Landed | null;
}

interface Landed {
  readonly block: string;
  readonly cost: AttemptClaim['cost'];
  readonly arrived: string | null;
  /** Log position and time of the event. */
  readonly position: string;
  readonly at: string;
}

export interface AuditedLeg {
  /** @param kind without the owner's prefix: Signed, Died, Confirmed … */
  next(kind: string, entry: AuditEntry): void;
  end(): void;
  /** Final outgoing amount; null while there is none. */
  settled(): { readonly amount: bigint } | null;
  /** Log position of the last attempt's signature; null before one. */
  signedAt(): string | null;
  /** True if it has an attempt of this number. */
  signed(attempt: number): boolean;
  /** True if an attempt landed, or can still land. */
  mayLand(): boolean;
}

/** Events that a called-off transfer cannot have. */
export const landing: ReadonlySet<string> = new Set(['Signed', 'Confirmed', 'Short']);

/** On Stellar channel accounts number transactions that the treasury pays for. */
const numbersElsewhere = (chainId: ChainId): boolean => chainOf(chainId).family === 'stellar';

const settledFates: ReadonlySet<string> = new Set(['settled', 'short']);

export function createLeg(ordered: AuditedOrder, out: Out): AuditedLeg {
  const attempts = new Map<number, Attempt>();
  let settled: number | null = null;
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));

  function sign(entry: AuditEntry): void {
    const { data } = entry;
    if (!isAsOrdered(data, ordered))
      find(
        'payoutWrong',
        entry,
        `signed ${data.amount} to ${data.receiver}, ordered ${ordered.amount} to ${ordered.receiver}`,
      );
    if (data.attempt !== attempts.size + 1)
      find('illegalEvent', entry, `attempt ${data.attempt} follows ${attempts.size} attempts`);
    if (settled !== null) find('signedTwice', entry, `attempt ${settled} has landed already`);
    for (const [number, other] of attempts) {
      const outbids = other.entry.data.nonce !== null && isSameNonce(other.entry, entry);
      if (other.fate === 'live' && !outbids) find('signedTwice', entry, `attempt ${number} can still land`);
    }
    attempts.set(data.attempt, { entry, fate: 'live', lapsed: false, retried: false, opened: false, landed: null });
  }

  function land(entry: AuditEntry, fate: 'settled' | 'short') {
    const { attempt: number, hash, blockNumber, cost = null } = entry.data;
    const attempt = attempts.get(number);
    if (!attempt || attempt.entry.data.hash !== hash)
      return find('illegalEvent', entry, `${hash} is no signed attempt ${number}`);
    if (settled !== null && settled !== number) find('paidTwice', entry, `attempt ${settled} had landed as well`);
    if (settled === number) find('illegalEvent', entry, `attempt ${number} had landed before`);
    if (cost && cost.payer !== attempt.entry.data.account && !numbersElsewhere(attempt.entry.data.chainId))
      find(
        'costWrong',
        entry,
        `${attempt.entry.data.account} signed it, and ${cost.payer} is said to have paid for it`,
      );
    if (attempt.fate === 'dead' || attempt.lapsed)
      find('illegalEvent', entry, `attempt ${number} was proven dead before`);
    attempt.fate = fate;
    const { position, at } = entry;
    // An operator's acceptance settles it: the chain is unchanged.
    const arrived = entry.data.arrived ?? attempt.landed?.arrived ?? null;
    attempt.landed = { block: blockNumber, cost, arrived, position, at };
    checkLeft(entry);
    if (fate === 'settled') settled = number;
  }

  /** No catalogue token charges its sender: only the ordered amount is debited. */
  function checkLeft(entry: AuditEntry): void {
    const { cost, arrived } = entry.data;
    const left = BigInt(cost?.left ?? ordered.amount);
    if (left > ordered.amount) find('costWrong', entry, `${left} left, ${ordered.amount} was ordered`);
    if (ordered.form !== 'flush' && arrived !== undefined && BigInt(arrived) > left)
      find('costWrong', entry, `${arrived} arrived of ${left} that left`);
  }

  function die(entry: AuditEntry) {
    const { attempt: number, proof } = entry.data;
    const attempt = attempts.get(number);
    if (attempt) bury(attempt, proof, entry);
    else find('illegalEvent', entry, `there is no attempt ${number}`);
  }

  function open(entry: AuditEntry) {
    const { attempt: number, hash, blockNumber: block, cost = null } = entry.data;
    const attempt = attempts.get(number);
    if (!attempt || attempt.entry.data.hash !== hash || attempt.fate !== 'live')
      return find('illegalEvent', entry, `${hash} is no signed attempt ${number} that can land`);
    attempt.fate = 'dead';
    attempt.opened = true;
    attempt.landed = { block, cost, arrived: null, position: entry.position, at: entry.at };
  }

  function unsettle(): void {
    const attempt = settled === null ? undefined : attempts.get(settled);
    if (attempt) [attempt.fate, attempt.landed] = ['live', null];
    settled = null;
  }

  return {
    next(kind, entry) {
      if (kind === 'Signed') sign(entry);
      else if (kind === 'Died') die(entry);
      else if (kind === 'Confirmed') land(entry, 'settled');
      else if (kind === 'Short') land(entry, 'short');
      else if (kind === 'AccountOpened') open(entry);
      else if (kind === 'Orphaned') unsettle();
      else if (kind === 'Accepted') decideShort(attempts.values(), 'live');
      else if (kind === 'Retried') decideShort(attempts.values(), 'dead');
    },
    end() {
      const settledBy = settled === null ? null : (attempts.get(settled)?.entry.data.hash ?? null);
      for (const attempt of attempts.values()) out.claim(claimOf(ordered, attempt, settledBy));
    },
    settled: () => (settled === null ? null : { amount: ordered.amount }),
    signedAt: () => [...attempts.values()].at(-1)?.entry.position ?? null,
    signed: (attempt) => attempts.has(attempt),
    mayLand: () => [...attempts.values()].some(({ fate }) => fate !== 'dead'),
  };
}

/** It failed on its chain, or can never land. */
function bury(attempt: Attempt, { reason, landed }: AuditEntry['data'], { position, at }: AuditEntry): void {
  attempt.fate = 'dead';
  attempt.lapsed = reason === 'validityPassed';
  if (landed && landed.hash === attempt.entry.data.hash)
    attempt.landed = { block: landed.blockNumber, cost: landed.cost, arrived: null, position, at };
}

/** After an operator's decision about a short attempt. */
function decideShort(attempts: Iterable<Attempt>, fate: 'live' | 'dead'): void {
  const all = [...attempts];
  if (all.some((attempt) => attempt.fate === 'short'))
    for (const attempt of all)
      if (attempt.fate !== 'dead') {
        attempt.retried = attempt.fate === 'short' && fate === 'dead';
        attempt.fate = fate;
      }
}

const isAsOrdered = (data: AuditEntry['data'], ordered: AuditedOrder): boolean =>
  data.chainId === ordered.chainId &&
  data.token.address === ordered.asset &&
  data.receiver === ordered.receiver &&
  (data.receiverMemo ?? null) === ordered.memo &&
  BigInt(data.amount) === ordered.amount;

const isSameNonce = (a: AuditEntry, b: AuditEntry): boolean =>
  a.data.nonce === b.data.nonce && a.data.account === b.data.account;

function claimOf(
  ordered: AuditedOrder,
  { entry, retried, opened, landed, ...attempt }: Attempt,
  settledBy: string | null,
): AttemptClaim {
  const fate = opened ? 'settled' : retried ? 'short' : attempt.fate;
  const { data } = entry;
  return {
    side: 'log',
    kind: 'attempt',
    where: { stream: entry.stream, revision: entry.revision, id: entry.id },
    chainId: data.chainId,
    txHash: data.hash,
    account: data.account,
    owner: ordered.owner,
    asset: data.token.address,
    amount: data.amount,
    receiver: data.receiver,
    memo: data.receiverMemo ?? null,
    form: ordered.form,
    ...(ordered.from && { from: ordered.from }),
    ...(ordered.coinAlong !== undefined && { coinAlong: ordered.coinAlong }),
    purpose: ordered.purpose,
    fate,
    position: landed?.position ?? entry.position,
    at: landed?.at ?? entry.at,
    block: landed?.block ?? null,
    cost: landed?.cost ?? null,
    arrived: settledFates.has(fate) ? (landed?.arrived ?? null) : null,
    settledBy: retried || opened ? null : settledBy,
  };
}
