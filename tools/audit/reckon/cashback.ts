/**
 * Payments without payins: cashback promised to payers, spent by them, and withdrawn by merchants. Each step must follow from the previous
 * one, to the cent.
 */
import { transferId } from '../../../domain/payment/shapes.ts';
import type { Out } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { findingAt } from '../findings.ts';
import { auditedTerms, scaled } from './funding.ts';

const whereOf = ({ stream, revision, id }: AuditEntry) => ({ stream, revision, id });
const centDecimals = 2;

/** A payment's stream: the cashback of its payers, and the withdrawal that funds it without a payin. */
export function createEarningsReckoner(out: Out): Reckoner {
  const payins = new Map<string, { readonly from: string; readonly amount: bigint }>();
  let created: AuditEntry | null = null;
  let funded: AuditEntry | null = null;
  let completed: AuditEntry | null = null;
  let bounced: AuditEntry | null = null;
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'PaymentCreated') created ??= entry;
      if (type === 'PaymentFunded') funded ??= entry;
      if (type === 'PayoutConfirmed') completed ??= entry;
      if (type === 'PaymentBounced') bounced ??= entry;
      if (type === 'PayinDetected' || type === 'PayinConfirmed')
        payins.set(transferId(data.transfer), { from: data.transfer.from, amount: BigInt(data.transfer.amount) });
    },
    end() {
      if (!created || !funded) return;
      const { paymentId } = created.data;
      const { source, destination } = created.data;
      if (funded.data.rule === 'cashback' && assetOf(source) !== assetOf(destination))
        out.find(
          findingAt('fundingWrong', funded, `cashback of ${assetOf(destination)} is paid from ${assetOf(source)}`),
        );
      if (funded.data.rule === 'cashback')
        out.paired(`withdrawn ${paymentId}`, {
          side: 'consequence',
          where: whereOf(funded),
          at: funded.at,
          words: withdrawnWords({ ...created.data.destination, amount: funded.data.received, fee: created.data.fee }),
          code: 'fundingWrong',
        });
      if (bounced && funded.data.rule === 'cashback') {
        const { token } = created.data.source;
        const cents = scaled(BigInt(funded.data.received), token.decimals, centDecimals);
        out.paired(`returned ${paymentId}`, {
          side: 'cause',
          where: whereOf(bounced),
          at: bounced.at,
          words: `${cents} cents`,
          code: 'accountWrong',
        });
      }
      if (!completed) return;
      for (const [account, cents] of earned(created, funded))
        out.paired(`earned ${paymentId} ${account}`, {
          side: 'cause',
          where: whereOf(completed),
          at: completed.at,
          words: `${cents} cents, paid on ${auditedTerms(created).paidFrom(funded.data.source).chainId}`,
          code: 'accountWrong',
        });
    },
  };

  /** Per payer, their part of the promised share, rounded down. */
  function earned(of: AuditEntry, { data }: AuditEntry): readonly (readonly [string, bigint])[] {
    const terms = auditedTerms(of);
    const { chainId, asset } = terms.paidFrom(data.source);
    const source = terms.sources.find((each) => each.chainId === chainId && each.token.address === asset);
    const promised = BigInt(of.data.cashback_basisPoints ?? 0);
    if (!source || promised === 0n || BigInt(data.received) === 0n) return [];
    const paid = new Map<string, bigint>();
    for (const id of data.transferIds as readonly string[]) {
      const { from, amount } = payins.get(id) ?? { from: '', amount: 0n };
      paid.set(from, (paid.get(from) ?? 0n) + amount);
    }
    return [...paid].flatMap(([account, part]) => {
      const units = (BigInt(data.sourceAmount) * part * promised) / (BigInt(data.received) * 10_000n);
      const cents = scaled(units, source.token.decimals, centDecimals);
      return cents > 0n ? [[account, cents] as const] : [];
    });
  }
}

const assetOf = ({ chainId, token }: AuditEntry['data']): string => `${token.address} on ${chainId}`;

interface Withdrawn {
  readonly chainId: number;
  readonly token: { readonly address: string };
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  readonly amount: string;
  readonly fee: { readonly fixed: string; readonly basisPoints: number };
}

const withdrawnWords = ({ chainId, token, receiverAddress, receiverMemo, amount, fee }: Withdrawn): string =>
  `${amount} of ${token.address} on ${chainId} to ${receiverAddress} (${receiverMemo ?? 'no memo'}), fee ${fee.fixed} and ${fee.basisPoints}`;

const openText = ({ cents, chainId, token, receiverAddress, receiverMemo, fee }: AuditEntry['data']): string =>
  `${cents} cents, ${withdrawnWords({ chainId, token, receiverAddress, receiverMemo, amount: cents, fee })}, ${token.decimals} decimals`;

/** Credit and cashback: each event contains the account's new state, and its cause. */
export function createAccountReckoner(out: Out): Reckoner {
  let balance = 0n;
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'CreditEarned' || type === 'CashbackReceived') balance += BigInt(data.cents);
      else if (type === 'CreditSpent' || type === 'CashbackWithdrawn') balance -= BigInt(data.cents);
      else if (type === 'WithdrawalReturned') balance += BigInt(data.cents);
      if (data.after && (BigInt(data.after.balance_cents) !== balance || balance < 0n))
        out.find(
          findingAt('accountWrong', entry, `it says ${data.after.balance_cents} cents, its events make ${balance}`),
        );
      pair(entry);
      if (data.after) balance = BigInt(data.after.balance_cents);
    },
    end() {},
  };

  function pair(entry: AuditEntry): void {
    const { type, data, stream } = entry;
    const own = { where: whereOf(entry), at: entry.at, code: 'accountWrong' } as const;
    const words = `${data.cents} cents`;
    if (type === 'CreditEarned')
      out.paired(`earned ${data.paymentId} ${data.account}`, {
        ...own,
        side: 'consequence',
        words: `${words}, paid on ${data.chainId}`,
      });
    if (type === 'CreditSpent')
      out.paired(`spent ${data.account} ${data.digest}`, { ...own, side: 'cause', words: `${words} to ${data.appId}` });
    if (type === 'CashbackReceived')
      out.paired(`spent ${data.account} ${data.digest}`, {
        ...own,
        side: 'consequence',
        words: `${words} to ${stream.slice('cashback-'.length)}`,
      });
    if (type === 'WithdrawalReturned') out.paired(`returned ${data.paymentId}`, { ...own, side: 'consequence', words });
    if (type === 'CashbackWithdrawn') {
      const open = data.after.open.find((each: AuditEntry['data']) => each.paymentId === data.paymentId);
      if (!open || openText(open) !== openText(data))
        out.find(
          findingAt('accountWrong', entry, `the account says that ${open ? openText(open) : 'nothing'} is open`),
        );
      const amount = scaled(BigInt(data.cents), centDecimals, data.token.decimals).toString();
      out.paired(`withdrawn ${data.paymentId}`, { ...own, side: 'cause', words: withdrawnWords({ ...data, amount }) });
    }
  }
}
