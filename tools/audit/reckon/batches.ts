/** A transaction that pays several, recomputed from its own events. Each payment records its own part, and both are compared. */
import type { BatchClaim, Out } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { findingAt } from '../findings.ts';
import { type AuditedLeg, createLeg } from './legs.ts';

export function createBatchReckoner(out: Out): Reckoner {
  let opened: AuditEntry | null = null;
  let leg: AuditedLeg | null = null;
  let dissolved = false;
  const illegal = (entry: AuditEntry, message: string) => out.find(findingAt('illegalEvent', entry, message));

  function gather(entry: AuditEntry, { data }: AuditEntry): void {
    const joined: readonly number[] = entry.data.joined;
    const members = joined.flatMap((place) => data.members[place - 1] ?? []) as BatchClaim['members'];
    if (leg || members.length !== joined.length || new Set(joined).size !== joined.length)
      illegal(entry, 'who is in the batch is said twice, or is none of those who were asked');
    leg ??= createLeg(orderedOf(data, members), claimingFor(members));
  }

  /** Its members contain the amounts. */
  const claimingFor = (members: BatchClaim['members']): Out => ({
    ...out,
    claim(claim) {
      if (claim.kind !== 'attempt') return;
      const { owner: _, amount: __, receiver: ___, form: ____, memo: _____, purpose: ______, ...own } = claim;
      out.claim({ ...own, kind: 'batch', members });
    },
  });

  return {
    next(entry) {
      const { type } = entry;
      if (type === 'BatchOpened') {
        const { chainId, account } = entry.data;
        if (opened) illegal(entry, 'the batch was opened before');
        if (!entry.stream.startsWith(`payoutBatch-${chainId}-${account}-`))
          illegal(entry, `it is of ${account} on chain ${chainId}, and in another account's stream`);
        opened ??= entry;
      } else if (type === 'BatchGathered' && opened) gather(entry, opened);
      else if (type === 'BatchDissolved') dissolved = true;
      else if (type !== 'BatchTold') {
        if (!leg) illegal(entry, 'it was not known yet who is in the batch');
        if (type === 'BatchSigned' && dissolved) illegal(entry, 'the batch was dissolved before');
        leg?.next(type.replace('Batch', ''), entry);
      }
    },
    end: () => leg?.end(),
  };
}

const orderedOf = ({ chainId, token, contract }: AuditEntry['data'], members: BatchClaim['members']) => ({
  chainId,
  asset: token.address,
  receiver: contract,
  memo: null,
  amount: members.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  form: null,
  purpose: 'paid' as const,
  owner: null,
});

/** Checks what `heads-log` states about chains. The sequence of its entries is checked with the whole log. */
export function createAnchorReckoner(out: Out): Reckoner {
  return {
    next({ stream, revision, id, type, data, position, at }: AuditEntry) {
      if (type !== 'HeadAnchored') return;
      const { chainId, account, transaction: txHash, headHash: hash, ledger: block } = data;
      const where = { stream, revision, id };
      out.claim({
        side: 'log',
        kind: 'anchor',
        where,
        position,
        at,
        chainId,
        txHash,
        account,
        hash,
        block,
        cost: null,
      });
    },
    end() {},
  };
}
