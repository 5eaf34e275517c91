/** What became of signed attempts. "Dead" is said only with proof in hand: a wrong one would pay twice. */
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { epochMs } from '../../../../domain/time.ts';
import { agreedFate, unlessDenied } from '../../node/agreement.ts';
import type { Fate } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { ledgerName } from '../payins/transfers.ts';
import { type FoundTransaction, type LedgerRange, transactionOf } from '../reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';

/** Attempts that share one sequence number of one account: a transaction and its fee bumps. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  readonly attempts: readonly SignedAttempt[];
}

/** How far our clock and the network's may be apart. */
const clockDifference_s = 600;

/** What the nodes agree on. */
export const fateOf = (rpc: StellarRpc, contenders: Contenders, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders), unlessDenied, signal);

/** What one node says. Undefined when it knows nothing of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: StellarNode, contenders: Contenders): Promise<Fate | undefined> {
  const before = await look(node, contenders);
  if (before.landed) return before.landed;
  const { account, nonce } = contenders;
  const holding = await holdingOf(node, account, []);
  if (!holding.account || holding.ledger < before.range.latest.ledger) throw behind(node, before.range.latest.ledger);
  if (holding.account.sequence < nonce) return expired(contenders, before.range);

  // The number is used up: by one of ours in a ledger closed since the first look, or by another transaction.
  const after = await look(node, contenders);
  if (after.landed) return after.landed;
  if (after.range.latest.ledger < holding.ledger) throw behind(node, holding.ledger);
  if (after.failed) return dead(contenders, 'reverted', after.failed);
  const remembers = after.range.oldest.closedAt_s + clockDifference_s <= signedAt_s(contenders);
  // What it may have forgotten can have landed: nothing is certain but that it will not land any more.
  if (!remembers) return { kind: 'pending', mined: true };
  const detail = `sequence ${nonce} of ${account} was used by ledger ${holding.ledger}, by none of the attempts’ hashes`;
  return dead(contenders, 'nonceUsed', detail);
}

interface Look {
  readonly range: LedgerRange;
  readonly landed: Fate | undefined;
  /** Why an attempt that used its sequence number up moved nothing. */
  readonly failed: string | undefined;
}

/** The latest attempt first: what a fee bump wraps is found by its own hash as well. */
async function look(node: StellarNode, { attempts }: Contenders): Promise<Look> {
  let range: LedgerRange | undefined;
  let failed: string | undefined;
  for (const { attempt, hash } of attempts.toReversed()) {
    const found = await transactionOf(node, hash);
    range ??= found.range;
    if (found.status === 'SUCCESS') return { range, landed: final(attempt, hash, found), failed };
    if (found.status === 'FAILED') failed ??= `transaction ${hash} failed in ledger ${found.ledger}`;
  }
  if (!range) throw new RpcFailed(node.name, 'getTransaction', 'malformed', 'there is no attempt to ask for');
  return { range, landed: undefined, failed };
}

const final = (attempt: number, hash: string, { ledger }: FoundTransaction): Fate => ({
  kind: 'final',
  attempt,
  hash,
  blockNumber: ledger,
  blockHash: ledgerName(ledger),
});

/** The account read after the range stood before the number: by the range's last ledger nothing had landed, and later it cannot. */
function expired(contenders: Contenders, { latest }: LedgerRange): Fate | undefined {
  const until = contenders.attempts.map(({ validUntil }) =>
    validUntil === null ? Number.POSITIVE_INFINITY : Number(validUntil),
  );
  if (latest.closedAt_s <= Math.max(...until)) return undefined;
  const detail = `ledger ${latest.ledger} closed at ${latest.closedAt_s}, after the last time bound, and sequence ${contenders.nonce} is unused`;
  return dead(contenders, 'validityPassed', detail);
}

const dead = ({ attempts }: Contenders, reason: 'nonceUsed' | 'reverted' | 'validityPassed', detail: string): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason, detail },
});

const signedAt_s = ({ attempts }: Contenders): number =>
  Math.min(...attempts.map(({ signedAt }) => epochMs(signedAt))) / 1_000;

const behind = (node: StellarNode, ledger: bigint): RpcFailed =>
  new RpcFailed(node.name, 'getLedgerEntries', 'refused', `it lags behind ledger ${ledger}`);
