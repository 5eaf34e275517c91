/** Fate of signed attempts. "Dead" requires a proof: a wrong answer would pay twice. */
import { coinAddress } from '../../../../domain/money.ts';
import { stellarCctp } from '../../../../domain/rebalance/cctp.ts';
import { epochMs } from '../../../../domain/time.ts';
import type { Cost, DeathProof } from '../../../../domain/transfer/shapes.ts';
import { agreedFate, stakeOf } from '../../node/agreement.ts';
import type { Fate, Sent } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import { type Assets, assetsOf, changesIn, feePaidIn } from '../changes.ts';
import { transfersToTreasury } from '../payins/movements.ts';
import { ledgerName, seenInMeta } from '../payins/transfers.ts';
import { type FoundTransaction, type LedgerRange, transactionOf } from '../reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';
import { assetContractOf } from '../tokens.ts';

/** Amount that the events of an asset's contract burned of an account. @throws Error if an event cannot be decoded */
const burnedIn = (found: Pick<FoundTransaction, 'events'>, account: string, assets: Assets, asset: string): bigint =>
  changesIn(found, account, assets)
    .filter((change) => change.asset === asset && change.amount < 0n && change.counterparty === null)
    .reduce((sum, { amount }) => sum - amount, 0n);

/**
 * Amount of the token's own events from the payer to the receiver (CAP-67); undefined if the node has no events at all: every transfer
 * makes one. The treasury pays, unless the order sends a payer's authorization entry, or mints: then the forwarder does. A send of USDT0
 * burns.
 * @throws Error if an event of the token cannot be decoded
 */
export function arrivedIn(
  { events }: Pick<FoundTransaction, 'events'>,
  { token, receiver, form }: Pick<Sent, 'token' | 'receiver' | 'form'>,
  { treasury, networkPassphrase }: { readonly treasury: string; readonly networkPassphrase: string },
): bigint | undefined {
  if (events.every((operation) => operation.length === 0)) return undefined;
  if (form?.kind === 'oftSend')
    return burnedIn({ events }, treasury, assetsOf({ networkPassphrase, payinContract: null }), token.address);
  const contract = assetContractOf(token, networkPassphrase);
  const told = events.flatMap((operation) => operation.flatMap(seenInMeta((its) => its === contract)));
  const tokens = new Map([[contract, token]]);
  const watched = { treasury: accountOf(receiver) ?? receiver, tokens, payin: null };
  const payer =
    form?.kind === 'authorizationEntry' ? form.payer : form?.kind === 'mint' ? stellarCctp.forwarder : treasury;
  const moved = transfersToTreasury(watched, told).filter(({ from }) => from === payer);
  return moved.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Attempts that share one sequence number of one account: a transaction and its fee bumps. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  /** Account that pays, whichever account numbers the transaction. */
  readonly treasury: string;
  readonly networkPassphrase: string;
  readonly attempts: readonly Sent[];
}

/** Maximum difference between our clock and the network's. */
const clockDifference_s = 600;

/** Fate that the nodes agree on. */
export const fateOf = (rpc: StellarRpc, contenders: Contenders, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders), stakeOf(contenders.attempts), signal);

/** Fate according to one node. Undefined if it knows none of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: StellarNode, contenders: Contenders): Promise<Fate | undefined> {
  const before = await search(node, contenders);
  if (before.landed) return before.landed;
  const { account, nonce } = contenders;
  const holding = await holdingOf(node, account, []);
  if (!holding.account || holding.ledger < before.range.latest.ledger) throw behind(node, before.range.latest.ledger);
  if (holding.account.sequence < nonce) return expired(contenders, before.range);

  // The number is used up: by an attempt in a ledger that closed since the first search, or by another transaction.
  const after = await search(node, contenders);
  if (after.landed) return after.landed;
  if (after.range.latest.ledger < holding.ledger) throw behind(node, holding.ledger);
  if (after.failed) return failedBy(contenders, after.failed);
  const remembers = after.range.oldest.closedAt_s + clockDifference_s <= signedAt_s(contenders);
  // The node may have dropped the ledger of a landed attempt: it is only certain that none will land from now on.
  if (!remembers) return { kind: 'pending', mined: true };
  const detail = `sequence ${nonce} of ${account} was used by ledger ${holding.ledger}, by none of the attempts`;
  return dead(contenders, 'nonceUsed', detail);
}

type Failed = FoundTransaction & { readonly hash: string };

interface Found {
  readonly range: LedgerRange;
  readonly landed: Fate | undefined;
  /** An attempt that used its sequence number up and moved nothing. */
  readonly failed: Failed | undefined;
}

/** Latest attempt first: a transaction within a fee bump is found by its own hash as well. */
async function search(node: StellarNode, contenders: Contenders): Promise<Found> {
  let range: LedgerRange | undefined;
  let failed: Failed | undefined;
  for (const attempt of contenders.attempts.toReversed()) {
    const { hash } = attempt;
    const found = await transactionOf(node, hash);
    range ??= found.range;
    if (found.status === 'SUCCESS') return { range, landed: landedBy(node, contenders, attempt, found), failed };
    if (found.status === 'FAILED') failed ??= { ...found, hash };
  }
  if (!range) throw new RpcFailed(node.name, 'getTransaction', 'malformed', 'there is no attempt to ask about');
  return { range, landed: undefined, failed };
}

/** @throws RpcFailed if the node omits a transfer's movements, or returns them in an unknown form */
function landedBy(node: StellarNode, contenders: Contenders, sent: Sent, found: FoundTransaction): Fate {
  const { attempt, hash, amount } = sent;
  const cost = costOf(contenders, found, sent);
  const landed = {
    attempt,
    hash,
    blockNumber: found.ledger,
    blockHash: ledgerName(found.ledger),
    ...(cost && { cost }),
  };
  const arrived = arrivedBy(node, contenders, sent, found);
  if (arrived === undefined)
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it tells no events of ${hash}`);
  return arrived >= BigInt(amount) ? { kind: 'final', ...landed } : { kind: 'short', ...landed, arrived };
}

/** A cancel moves nothing. */
function arrivedBy(
  node: StellarNode,
  { treasury, networkPassphrase }: Contenders,
  sent: Sent,
  found: FoundTransaction,
) {
  if (sent.amount === '0') return 0n;
  try {
    return arrivedIn(found, sent, { treasury, networkPassphrase });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be decoded';
    throw new RpcFailed(node.name, 'getTransaction', 'malformed', `transaction ${sent.hash}: ${why}`);
  }
}

/**
 * The account was read after the range and had not reached the number: nothing had landed by the range's last ledger, and later it cannot.
 */
function expired(contenders: Contenders, { latest }: LedgerRange): Fate | undefined {
  const until = contenders.attempts.map(({ validUntil }) =>
    validUntil === null ? Number.POSITIVE_INFINITY : Number(validUntil),
  );
  if (latest.closedAt_s <= Math.max(...until)) return undefined;
  const detail = `ledger ${latest.ledger} closed at ${latest.closedAt_s}, after the last time bound, and sequence ${contenders.nonce} is unused`;
  return dead(contenders, 'validityPassed', detail);
}

function failedBy(contenders: Contenders, failed: Failed): Fate {
  const { hash, ledger } = failed;
  const cost = costOf(contenders, failed);
  const at = cost && { hash, blockNumber: ledger.toString(), blockHash: ledgerName(ledger), cost };
  return dead(contenders, 'reverted', `transaction ${hash} failed in ledger ${ledger}`, at);
}

/**
 * The treasury pays for every transaction, whichever account numbers it. Undefined if the node omits the fee. A send of USDT0 also costs
 * the lumens that the Endpoint kept. @param landed the attempt, if it did not fail
 */
function costOf(contenders: Contenders, found: FoundTransaction, landed?: Sent): Cost | undefined {
  const { treasury, networkPassphrase } = contenders;
  if (found.own.length === 0) return undefined;
  const cost = { payer: treasury, fee: feePaidIn(found, treasury).toString() };
  if (landed?.form?.kind !== 'oftSend') return cost;
  const kept = changesIn(found, treasury, assetsOf({ networkPassphrase, payinContract: null }))
    .filter(({ asset }) => asset === coinAddress)
    .reduce((sum, { amount }) => sum - amount, 0n);
  return kept === 0n ? cost : { ...cost, rent: kept.toString() };
}

const dead = (
  { attempts }: Contenders,
  reason: 'nonceUsed' | 'reverted' | 'validityPassed',
  detail: string,
  landed?: DeathProof['landed'],
): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason, detail, ...(landed && { landed }) },
});

const signedAt_s = ({ attempts }: Contenders): number =>
  Math.min(...attempts.map(({ signedAt }) => epochMs(signedAt))) / 1_000;

const behind = (node: StellarNode, ledger: bigint): RpcFailed =>
  new RpcFailed(node.name, 'getLedgerEntries', 'refused', `it lags behind ledger ${ledger}`);
