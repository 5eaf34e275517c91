/** Checks that the signer's own log holds each signature that moved money, for the ordered transfer. */
import { findChain } from '../../../domain/chains.ts';
import type { StoredEvent } from '../../../domain/decider.ts';
import { rescaleUp } from '../../../domain/money.ts';
import type { MoneyUse } from '../../../domain/signing/moneyUse.ts';
import type { Signature } from '../../../domain/signing/signature.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { unmatchedRefundsOwed } from '../../../domain/unmatched.ts';
import type { Watched } from './invariants.ts';
import { Violation } from './violation.ts';

type Logged = Pick<Watched, 'payments' | 'operations' | 'moves' | 'unmatched'>;

/** @param events of the signer's log @throws Violation */
export function checkSigner(events: readonly StoredEvent[], logged: Logged): void {
  const signed = new Map<string, Signature & { readonly reference: string }>();
  const used = new Map<string, MoneyUse>();
  for (const { type, data, stream } of events) {
    if (type === 'TransferSigned') {
      const signature = data as Signature;
      signed.set(signature.hash, { ...signature, reference: stream.slice('signature-'.length) });
    }
    if (type !== 'MoneyUsed') continue;
    const use = data as MoneyUse;
    const known = used.get(use.reference);
    if (known) throw new Violation('signedAsOrdered', `${use.reference} took money twice: ${JSON.stringify(use)}`);
    used.set(use.reference, use);
  }
  for (const { order, attempts, settled } of legsOf(logged)) {
    const own = attempts.flatMap((attempt) => signed.get(attempt.signed.hash) ?? []);
    if (settled && own.length === 0)
      throw new Violation('signedAsOrdered', `a transfer to ${order.receiver} is final, and its signer knows nothing`);
    for (const { amount, receiver, hash, reference } of own) {
      const isOrdered = amount === order.amount.toString() && receiver === order.receiver;
      if (!isOrdered) throw new Violation('signedAsOrdered', `${hash} moves ${amount} to ${receiver}, not as ordered`);
      const money = used.get(reference);
      if (money && BigInt(money.amount) !== inUnitsOf(money.asset, order))
        throw new Violation('signedAsOrdered', `${hash} moves ${amount}, ${money.amount} was taken for it`);
    }
  }
}

/** Amount of the received money that the order uses, in that money's units. */
function inUnitsOf(asset: string, { amount, token }: { readonly amount: bigint; readonly token: AssetRef }): bigint {
  const [chainId, address] = asset.split(' ');
  const paid = findChain(chainId ?? '')?.tokens.find((each) => each.address === address);
  return rescaleUp(amount, token.decimals, paid?.decimals ?? token.decimals);
}

const legsOf = ({ payments, operations, moves, unmatched }: Logged) => [
  ...[...payments.values()].flatMap((state) => [state?.payout, ...(state?.refunds ?? [])]).filter((leg) => !!leg),
  ...[...operations.values()].flatMap((state) => (state?.ordered.kind === 'withdrawal' ? state.leg : [])),
  ...[...moves.values()].flatMap((state) => (state ? state.burn : [])),
  ...[...unmatched.values()].flatMap((state) => unmatchedRefundsOwed(state).map(({ leg }) => leg)),
];
