/** Checks that the money of all payments adds up: it arrived on the chains, and each unit of it is paid out, a fee, refunded, or held. */
import { rescale } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import type { SimulatedChain } from '../kernel/ports.ts';
import type { Watched } from './invariants.ts';
import { Violation } from './violation.ts';

type Recorded = Pick<Watched, 'payments' | 'unmatched'>;

/** @throws Violation */
export function checkMoney(chains: readonly SimulatedChain[], { payments, unmatched }: Recorded): void {
  for (const payment of payments.values()) {
    if (payment === null) continue;
    checkReceived(chains, payment, assignedTo(payment, unmatched));
    checkDivided(payment);
  }
}

/** Recorded receipts equal the chains' transfers, one by one. */
function checkReceived(
  chains: readonly SimulatedChain[],
  { terms, deposits, payins }: Payment,
  assigned: ReadonlySet<string>,
): void {
  const own = new Set(Object.values(deposits).map(({ address, memo }) => placeOf(address, memo)));
  const confirmed = payins.filter(({ phase }) => phase === 'confirmed');
  const hashes = new Set(confirmed.map(({ transfer }) => transfer.txHash));
  // A transfer that its chain may still lose does not count yet.
  const came = chains
    .flatMap(({ truth }) =>
      truth.transfers().filter(({ txHash, block }) => block <= truth.final() || hashes.has(txHash)),
    )
    .filter(({ to, memo, txHash }) => own.has(placeOf(to, memo)) || assigned.has(txHash))
    .reduce((sum, { amount }) => sum + amount, 0n);
  const recorded = confirmed.reduce((sum, { amount }) => sum + amount, 0n);
  if (came !== recorded)
    throw new Violation('moneyAddsUp', `${terms.paymentId} recorded ${recorded} of the ${came} that came`);
}

/** Hashes of unmatched money that an operator assigned to the payment. */
const assignedTo = ({ terms }: Payment, unmatched: Recorded['unmatched']): ReadonlySet<string> =>
  new Set(
    [...unmatched.values()].flatMap((state) =>
      state?.verdict.kind === 'assigned' && state.verdict.paymentId === terms.paymentId ? state.transfer.txHash : [],
    ),
  );

const placeOf = (address: string, memo: string | null): string => `${address.toLowerCase()}|${memo ?? ''}`;

/** The funding is divided exactly, and the fee is at most the agreed one. */
function checkDivided({ terms, funded, payout }: Payment): void {
  if (funded === null) return;
  const { source, destination, fee, paymentId } = terms;
  const out = rescale(funded.payout, destination.token.decimals, source.token.decimals);
  if (out + funded.fee + funded.excess + funded.dust !== funded.received)
    throw new Violation('moneyAddsUp', `${paymentId} received ${funded.received} and divided another sum`);
  if (funded.fee > BigInt(fee.amount ?? funded.fee))
    throw new Violation('moneyAddsUp', `${paymentId} keeps a fee of ${funded.fee}, agreed was ${fee.amount}`);
  if (payout && BigInt(payout.order.amount) !== funded.payout)
    throw new Violation('moneyAddsUp', `${paymentId} pays out ${payout.order.amount} of ${funded.payout}`);
}
