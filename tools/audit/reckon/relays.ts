/** Relays, recomputed from their own events: they cost the treasury gas only. The payers' money is audited as payins. */
import { MuxedAccount, StrKey } from '@stellar/stellar-sdk';
import { categoryOf } from '../../../domain/decider.ts';
import type { Out } from '../claims.ts';
import type { AuditEntry } from '../entry.ts';
import { findingAt } from '../findings.ts';
import { type AuditedLeg, createLeg, landing } from './legs.ts';
import type { Reckoner } from './reckoner.ts';

export function createRelayReckoner(out: Out): Reckoner {
  let ordered: AuditEntry | null = null;
  let leg: AuditedLeg | null = null;
  let ended = false;
  const illegal = (entry: AuditEntry, message: string) => out.find(findingAt('illegalEvent', entry, message));

  function order(entry: AuditEntry): void {
    const { stream, data } = entry;
    if (ordered) illegal(entry, 'it was ordered before');
    if (stream !== `${categoryOf(stream)}-${data.paymentId}-${data.relay}`)
      illegal(entry, `it is relay ${data.relay} of payment ${data.paymentId}, in another stream`);
    if (!paysDeposit(data))
      illegal(entry, `it pays ${data.receiver}, and the payment's deposit is ${data.form.deposit.address}`);
    ordered ??= entry;
    const { chainId, token, receiver, amount } = data;
    // It moves as little of ours as a deployment does.
    const own = { form: 'deploy', memo: null, owner: null, purpose: 'moved' } as const;
    leg ??= createLeg({ chainId, asset: token.address, receiver, amount: BigInt(amount), ...own }, out);
  }

  return {
    next(entry) {
      const kind = entry.type.replace('Relay', '');
      if (kind === 'Ordered') return order(entry);
      if (kind === 'Ended') {
        if (leg?.mayLand()) illegal(entry, 'its transaction has landed, or can still: it cannot be ended');
        ended = true;
        return;
      }
      if (landing.has(kind) && (!leg || ended))
        illegal(entry, leg ? 'it was ended before' : 'nothing was ordered before it');
      leg?.next(kind, entry);
    },
    end() {
      leg?.end();
      const position = leg?.signedAt() ?? null;
      if (!ordered || !leg || ended || position === null || leg.settled() || !leg.mayLand()) return;
      const what = 'its relay is signed and not settled';
      out.unsettled({ chainId: ordered.data.chainId, stream: ordered.stream, position, what });
    },
  };
}

/** On Stellar the receiver is an M address: the treasury's account, and the payment's memo as its id. */
function paysDeposit({ receiver, form: { deposit } }: AuditEntry['data']): boolean {
  if (!StrKey.isValidMed25519PublicKey(receiver)) return receiver === deposit.address;
  const muxed = MuxedAccount.fromAddress(receiver, '0');
  return muxed.baseAccount().accountId() === deposit.address && muxed.id() === deposit.memo;
}
