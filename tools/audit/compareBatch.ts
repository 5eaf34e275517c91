/** Payouts that share one transaction: what their batch says of each, beside what each payment says. */
import type { AttemptClaim, BatchClaim, Claim, Evidence } from './claims.ts';
import { type Compared, findAtClaim, type World } from './comparing.ts';

const streamOf = ({ paymentId }: BatchClaim['members'][number]): string => `payment-${paymentId}`;

/** Members whose payment tells of no part of it. */
const untold = ({ members }: BatchClaim, attempts: readonly AttemptClaim[]): BatchClaim['members'] => {
  const told = new Set(attempts.map(({ where }) => where.stream));
  return members.filter((member) => !told.has(streamOf(member)));
};

/** What members get of whom no payment tells; those who tell are asked themselves. */
export function outOfBatch(
  { account, asset, ...batch }: BatchClaim,
  attempts: readonly AttemptClaim[],
  shownAt: string,
): Evidence['changes'] {
  if (account !== shownAt || (batch.fate !== 'settled' && batch.fate !== 'short')) return [];
  return untold({ account, asset, ...batch }, attempts).map(({ receiver, amount }) => ({
    asset,
    amount: `-${amount}`,
    counterparty: receiver,
  }));
}

/** One batch to a transaction, and each payout of it one member: nobody else, nobody twice, to the unit. */
export function compareBatch(
  claims: readonly Claim[],
  shown: readonly Evidence[],
  world: Pick<World, 'settledBefore' | 'isWhole'>,
  out: Compared,
): void {
  const attempts = claims.filter((claim): claim is AttemptClaim => claim.kind === 'attempt');
  const [batch, ...others] = claims.filter((claim): claim is BatchClaim => claim.kind === 'batch');
  const find = (claim: Claim, message: string): void => findAtClaim(out, 'payoutWrong', claim, message);
  for (const other of others) find(other, `${batch?.where.stream} has this transaction as well`);
  if (!batch) {
    const [first, ...more] = attempts;
    for (const each of more) find(each, `it is paid with ${first?.where.stream}, and no batch says so`);
    return;
  }
  const left = [...batch.members];
  for (const attempt of attempts) {
    const at = left.findIndex((member) => streamOf(member) === attempt.where.stream);
    const [member] = at < 0 ? [] : left.splice(at, 1);
    if (!member) find(attempt, `${batch.where.stream} pays it as well, and does not have it among its members`);
    else if (member.receiver !== attempt.receiver || member.amount !== attempt.amount)
      find(
        batch,
        `${member.amount} to ${member.receiver}; ${attempt.where.stream} says ${attempt.amount} to ${attempt.receiver}`,
      );
  }
  const landed = shown.some(({ succeeded, time }) => succeeded && time < world.settledBefore);
  if (!world.isWhole || !(landed || batch.fate === 'settled')) return;
  for (const member of left)
    find(batch, `it pays ${member.amount} to ${member.receiver}, and ${streamOf(member)} does not say so`);
}
