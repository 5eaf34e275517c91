/** There are two sets, so that a bug in statistics never stops a payout. */

import { apiKeys, appChanges, appEvents, appMembers, appNotifications, apps, links } from './apps.ts';
import {
  cashbackAccounts,
  cashbackPayments,
  cashbackWithdrawals,
  creditAccounts,
  creditSigners,
  todoCashback,
  todoCredits,
  todoWithdrawals,
} from './cashback.ts';
import { notices } from './notices.ts';
import { deposits, payins, payments, paymentWords, transactions } from './payments.ts';
import type { ProjectionSet } from './projection.ts';
import { dailyDurations, hourlyPayments, hourlyStats } from './stats.ts';
import { deliveries, todoFundedRefunds, todoPayments, todoPolicyRefunds, todoWebhooks } from './todos.ts';
import {
  operations,
  transfersOfBatches,
  transfersOfOperations,
  transfersOfPayments,
  transfersOfRebalances,
  transfersOfRelays,
  transfersOfUnmatched,
  unmatchedPayins,
} from './transfers.ts';
import { treasuryMovements } from './treasuryMovements.ts';

/** Read models that the service acts on. */
export const workSet: ProjectionSet = {
  name: 'work',
  version: 13,
  rebuildBatch_events: 20_000,
  projections: [
    payments,
    payins,
    deposits,
    unmatchedPayins,
    todoPayments,
    transfersOfPayments,
    transfersOfUnmatched,
    todoWebhooks,
    apps,
    appMembers,
    appNotifications,
    apiKeys,
    creditAccounts,
    creditSigners,
    todoCredits,
    cashbackPayments,
    todoCashback,
    cashbackAccounts,
    todoWithdrawals,
    cashbackWithdrawals,
    links,
    appChanges,
    todoPolicyRefunds,
    todoFundedRefunds,
    operations,
    transfersOfOperations,
    transfersOfBatches,
    transfersOfRelays,
    transfersOfRebalances,
  ],
  channels: {
    transfers: 'transfers',
    todo_webhooks: 'todo_webhooks',
    todo_credits: 'todo_cashback',
    todo_cashback: 'todo_cashback',
    todo_withdrawals: 'todo_cashback',
    todo_policy_refunds: 'todo_policy_refunds',
    todo_funded_refunds: 'todo_policy_refunds',
    apps: 'settings',
    api_keys: 'settings',
  },
};

/** Read models for people: feed, transactions, statistics, deliveries, treasury movements. */
export const reportsSet: ProjectionSet = {
  name: 'reports',
  version: 6,
  unhurried: true,
  projections: [
    appEvents,
    transactions,
    paymentWords,
    hourlyStats,
    hourlyPayments,
    dailyDurations,
    deliveries,
    treasuryMovements,
    notices,
  ],
  channels: { app_events: 'app_events' },
};

export const projectionSets: readonly ProjectionSet[] = [workSet, reportsSet];
