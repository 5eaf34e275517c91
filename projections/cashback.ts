/** Credit of buyers, and the credit that merchants received. */
import { instanceOf } from '../domain/decider.ts';
import { earningsOf, returnedBy } from '../domain/payment/cashback.ts';
import { number, ofEvents, remove, upsert } from './projection.ts';

export const creditAccounts = ofEvents('creditAccounts', ({ category, event, stored }) =>
  category === 'credit'
    ? [
        upsert('credit_accounts', {
          account: event.data.account,
          cents: event.data.after.balance_cents,
          changed_at: stored.metadata.at,
        }),
      ]
    : [],
);

export const creditSigners = ofEvents('creditSigners', ({ category, event, stored }) =>
  category === 'credit' && event.type === 'CreditSpent'
    ? [upsert('credit_signers', { account: event.data.account, changed_at: stored.metadata.at })]
    : [],
);

/** A payment earns once: a payout that is confirmed again after an orphaned block earns nothing more. */
export const todoCredits = ofEvents('todoCredits', (seen) => {
  if (seen.category === 'credit') {
    const { type, data } = seen.event;
    return type === 'CreditEarned'
      ? [remove('todo_credits', { payment_id: data.paymentId, account: data.account })]
      : [];
  }
  if (seen.category !== 'payment' || seen.event.type !== 'PayoutConfirmed' || seen.before?.payout?.everSettled)
    return [];
  return earningsOf(seen.after).map(({ account, paymentId, appId, chainId, basisPoints, cents }) =>
    upsert('todo_credits', {
      payment_id: paymentId,
      account,
      app_id: appId,
      chain_id: chainId,
      basis_points: basisPoints,
      cents: cents.toString(),
      due_at: seen.stored.metadata.at,
    }),
  );
});

export const cashbackPayments = ofEvents('cashbackPayments', (seen) => {
  if (seen.category !== 'credit' || seen.event.type !== 'CreditSpent') return [];
  const { appId, digest, account, cents, amountLocal, currencyLocal, orderId, about, signedAt, spentAt } =
    seen.event.data;
  return [
    number('cashback_payments', {
      app_id: appId,
      digest,
      account,
      cents,
      amount_local: amountLocal,
      currency_local: currencyLocal,
      order_id: orderId,
      about,
      signed_at: signedAt,
      spent_at: spentAt,
    }),
  ];
});

export const todoCashback = ofEvents('todoCashback', (seen) => {
  if (seen.category === 'cashback') {
    const { type, data } = seen.event;
    return type === 'CashbackReceived' ? [remove('todo_cashback', { digest: data.digest })] : [];
  }
  if (seen.category !== 'credit' || seen.event.type !== 'CreditSpent') return [];
  const { digest, appId, spentAt } = seen.event.data;
  return [upsert('todo_cashback', { digest, app_id: appId, due_at: spentAt })];
});

/** Withdrawals without a payment, and those with a bounced payment until their cents have returned. */
export const todoWithdrawals = ofEvents('todoWithdrawals', (seen) => {
  const { stored } = seen;
  if (seen.category === 'payment') {
    const { event, after } = seen;
    if (event.type !== 'PaymentBounced' || returnedBy(after) === null) return [];
    const { paymentId: payment_id, appId: app_id } = after.terms;
    return [upsert('todo_withdrawals', { payment_id, app_id, due_at: event.data.bouncedAt })];
  }
  if (seen.category !== 'cashback') return [];
  const { type, data } = seen.event;
  if (type === 'WithdrawalOrdered' || type === 'WithdrawalReturned')
    return [remove('todo_withdrawals', { payment_id: data.paymentId })];
  if (type !== 'CashbackWithdrawn') return [];
  const row = { payment_id: data.paymentId, app_id: instanceOf(stored.stream), due_at: data.withdrawnAt };
  return [upsert('todo_withdrawals', row)];
});

export const cashbackWithdrawals = ofEvents('cashbackWithdrawals', ({ category, event, stored }) => {
  if (category !== 'cashback') return [];
  if (event.type === 'WithdrawalReturned')
    return [remove('cashback_withdrawals', { payment_id: event.data.paymentId })];
  if (event.type !== 'CashbackWithdrawn') return [];
  const { paymentId: payment_id, cents, withdrawnAt: withdrawn_at } = event.data;
  return [upsert('cashback_withdrawals', { payment_id, app_id: instanceOf(stored.stream), cents, withdrawn_at })];
});

export const cashbackAccounts = ofEvents('cashbackAccounts', ({ category, event, stored }) => {
  if (category !== 'cashback') return [];
  const { open: _, returned_cents = '0', ...standing } = event.data.after;
  const withdrawn_cents = (BigInt(standing.withdrawn_cents) - BigInt(returned_cents)).toString();
  const row = { app_id: instanceOf(stored.stream), ...standing, withdrawn_cents, changed_at: stored.metadata.at };
  return [upsert('cashback_accounts', row)];
});
