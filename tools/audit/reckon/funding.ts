/** Checks that a payment's money was divided according to its own terms. The arithmetic is repeated here on purpose. */
import { microUsdDecimals } from '../../../domain/money.ts';
import type { AuditEntry } from '../entry.ts';
import { type Finding, findingAt } from '../findings.ts';

interface Source {
  readonly chainId: number;
  readonly token: { readonly address: string; readonly decimals: number };
  readonly amount: string | null;
  readonly fee: {
    readonly fixed: string;
    readonly basisPoints: number;
    readonly amount: string | null;
    /** Part of amount: the difference of the rounded requested amount. */
    readonly rounding?: string;
  };
}

export interface AuditedTerms {
  readonly entry: AuditEntry;
  readonly sources: readonly Source[];
  paidFrom(chosen?: { readonly chainId: number; readonly tokenAddress: string }): {
    readonly chainId: number;
    readonly asset: string;
  };
}

/** Sources of a payment: as created, payers' alternatives, and those of the app's policy. */
export function auditedTerms(entry: AuditEntry): AuditedTerms {
  const { source, fee, alternatives = [], policy } = entry.data;
  const first = { ...source, fee };
  return {
    entry,
    sources: [first, ...alternatives, ...(policy?.tolerated ?? [])],
    paidFrom: (chosen) => ({
      chainId: chosen?.chainId ?? source.chainId,
      asset: chosen?.tokenAddress ?? source.token.address,
    }),
  };
}

interface Transfer {
  readonly chainId: number;
  readonly token: { readonly address: string };
  readonly amount: string;
}

/** @param used funding money in the event's order; null for a missing confirmed payin */
export function fundingFindings(
  terms: AuditedTerms,
  funded: AuditEntry,
  used: readonly (Transfer | null)[],
): readonly Finding[] {
  const { data } = funded;
  const paid = terms.paidFrom(data.source);
  const source = terms.sources.find(({ chainId, token }) => chainId === paid.chainId && token.address === paid.asset);
  if (!source) return [findingAt('fundingWrong', funded, `it may not be paid from ${paid.asset} on ${paid.chainId}`)];
  const came = used.reduce((sum, each) => sum + BigInt(each?.amount ?? 0), 0n);
  const theirs = used.every((each) => each?.chainId === paid.chainId && each.token.address === paid.asset);
  const isCashback = data.rule === 'cashback';
  return [
    ...(isCashback || (theirs && came === BigInt(data.received) && new Set(data.transferIds).size === used.length)
      ? []
      : [findingAt('fundingWrong', funded, `it says ${data.received} was received; confirmed payins make ${came}`)]),
    ...splitFindings(terms, funded, source),
  ];
}

function splitFindings(
  { entry: created, sources }: AuditedTerms,
  funded: AuditEntry,
  source: Source,
): readonly Finding[] {
  const { rule } = funded.data;
  const [received, fee, excess, dust, payout] = ['received', 'fee', 'excess', 'dust', 'payout'].map((name) =>
    BigInt(funded.data[name]),
  ) as [bigint, bigint, bigint, bigint, bigint];
  const { type, destination } = created.data;
  const route = { source: source.token.decimals, destination: destination.token.decimals };
  const parts = scaled(payout, route.destination, route.source) + fee + excess + dust;
  const findings: Finding[] = [];
  if (parts !== received)
    findings.push(findingAt('splitWrong', funded, `the parts make ${parts}, received is ${received}`));
  const due = feesDue(
    source,
    { type, rule, received, agreedOut: destination.amount, isFirst: sources[0] === source },
    route,
  );
  if (!due.includes(fee))
    findings.push(findingAt('feeWrong', funded, `the fee is ${fee}; by the payment’s terms it is ${due.join(' or ')}`));
  if (isRoundedTooFar(source, sources[0] === source))
    findings.push(
      findingAt('feeWrong', funded, `the terms round ${source.amount} up by ${source.fee.rounding}: a cent or more`),
    );
  const agreed = destination.amount === null ? null : BigInt(destination.amount);
  if (agreed !== null && (payout > agreed || (rule !== 'short' && payout !== agreed)))
    findings.push(findingAt('payoutWrong', funded, `${payout} is paid out, ${agreed} was agreed`));
  if (excess > 0n && rule !== 'overpaid')
    findings.push(findingAt('splitWrong', funded, `rule ${rule} leaves no excess`));
  if (BigInt(funded.data.sourceAmount) !== received - excess)
    findings.push(
      findingAt(
        'splitWrong',
        funded,
        `${funded.data.sourceAmount} is said to pay, received less excess is ${received - excess}`,
      ),
    );
  const isAgreed = rule === 'agreed' || rule === 'overpaid' || rule === 'cashback';
  if (isAgreed && source.amount !== null && BigInt(source.amount) !== received - excess)
    findings.push(
      findingAt('fundingWrong', funded, `${received - excess} pays it; the terms ask for ${source.amount}`),
    );
  if (isAgreed && source.fee.amount !== null && BigInt(source.fee.amount) !== fee)
    findings.push(findingAt('feeWrong', funded, `the fee is ${fee}; the terms state ${source.fee.amount}`));
  if (rule === 'short') {
    const problem = shortProblem(created, source, { received, fee, payout });
    if (problem !== null) findings.push(findingAt('payoutWrong', funded, problem));
  } else if (dust >= (rule === 'anyAmount' ? unitOf(route) : 1n))
    findings.push(findingAt('splitWrong', funded, `rule ${rule} leaves no dust of ${dust}`));
  return findings;
}

/** Rounding up adds less than a cent, and nothing to the source that the payment was created with. */
function isRoundedTooFar({ token, fee: { rounding = '0' } }: Source, isFirst: boolean): boolean {
  return isFirst ? BigInt(rounding) !== 0n : BigInt(rounding) >= scaled(1n, 2, token.decimals);
}

interface Parts {
  readonly received: bigint;
  readonly fee: bigint;
  readonly payout: bigint;
}

/** Returns why less than agreed may not be paid out; null if the policy accepts it, and the receiver gets all but the fee. */
function shortProblem({ data }: AuditEntry, source: Source, { received, fee, payout }: Parts): string | null {
  const { policy, destination } = data;
  if (!policy || source.amount === null || destination.amount === null) return 'no policy accepts less than was agreed';
  const decimals = { source: source.token.decimals, destination: destination.token.decimals };
  const due = BigInt(source.amount);
  const share = (due * BigInt(policy.tolerance.basisPoints)) / 10_000n;
  const most = scaled(BigInt(policy.tolerance.most_microUsd), microUsdDecimals, source.token.decimals);
  const forgiven = share < most ? share : most;
  if (policy.under !== 'accept' && received < due - forgiven)
    return `${received} was received, and the policy accepts no less than ${due - forgiven}`;
  const left = scaled(received - fee, decimals.source, decimals.destination);
  const all = left < BigInt(destination.amount) ? left : BigInt(destination.amount);
  const least = BigInt(policy.leastPayout) > 0n ? BigInt(policy.leastPayout) : 1n;
  if (payout < least) return `${payout} is paid out, the policy pays no less than ${least}`;
  return payout === all ? null : `${payout} is paid out, ${all} is left of what was received`;
}

interface Route {
  readonly source: number;
  readonly destination: number;
}

interface Asked {
  readonly type: string;
  readonly rule: string;
  readonly received: bigint;
  readonly agreedOut: string | null;
  readonly isFirst: boolean;
}

/** Fees that the terms allow: one, except for an accepted underpayment: the fee of the received amount, or the lower agreed one. */
function feesDue(source: Source, { type, rule, received, agreedOut, isFirst }: Asked, route: Route): readonly bigint[] {
  const of = (base: bigint): bigint => feeOf(base, source, route);
  if (agreedOut === null || source.amount === null) return [of(received)];
  const rounding = BigInt(source.fee.rounding ?? 0);
  const exact = of(scaled(BigInt(agreedOut), route.destination, route.source));
  const [byOut, byIn] = [exact + rounding, of(BigInt(source.amount))];
  // A tolerated source has the fee of the source that it replaces.
  const stated = BigInt(source.fee.amount ?? 0);
  const own = type === 'exactIn' && isFirst ? byIn : byOut;
  const agreed = !isFirst && stated === byIn ? byIn : own;
  if (rule !== 'short') return [agreed];
  // A missing amount reduces the rounding first, then the payout.
  const missing = BigInt(source.amount) - received;
  const left = agreed - (missing < rounding ? missing : rounding);
  return [left, of(received) < left ? of(received) : left];
}

/** Fixed and basis points, rounded down to what both tokens can represent. */
function feeOf(base: bigint, { fee }: Source, route: Route): bigint {
  const exact = BigInt(fee.fixed) + (base * BigInt(fee.basisPoints)) / 10_000n;
  return exact - (exact % unitOf(route));
}

/** Smallest amount that both tokens can represent, in units of the source. */
const unitOf = (route: Route): bigint => 10n ** BigInt(Math.max(0, route.source - route.destination));

/** Converts to another number of decimals, rounded down. */
export const scaled = (value: bigint, from: number, to: number): bigint =>
  to >= from ? value * 10n ** BigInt(to - from) : value / 10n ** BigInt(from - to);
