import { instanceOf } from '../domain/decider.ts';
import type { LinkTerms } from '../domain/link.ts';
import type { IssuedKey } from '../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import { statusOf } from '../domain/payment/view.ts';
import {
  number,
  ofEvents,
  ofRecords,
  ofStates,
  type RowChange,
  remove,
  type SeenEventOf,
  upsert,
} from './projection.ts';

/** Each app's current settings, with the wallet in force and a pending one: the time of the query decides. */
export const apps = ofStates('apps', 'merchant', ({ after }) => {
  const { registration, settlement, settlementChange: next, webhookSecret } = after;
  if (!registration) return [];
  return [
    upsert('apps', {
      app_id: registration.appId,
      id_salt: registration.idSalt,
      developer_id: after.developerId,
      registered_at: registration.registeredAt,
      profile_digest: after.profile,
      webhook_url: after.webhookUrl,
      webhook_types: after.webhookTypes,
      webhook_endpoints: after.webhookEndpoints.map(({ ciphertext: _, ...endpoint }) => endpoint),
      webhook_secret_fingerprint: webhookSecret?.fingerprint,
      webhook_secret_rotated_at: webhookSecret?.rotatedAt,
      settlement_chain_id: settlement?.chainId,
      settlement_token_symbol: settlement?.token.symbol,
      settlement_token_address: settlement?.token.address,
      settlement_address: settlement?.receiverAddress,
      settlement_memo: settlement?.receiverMemo,
      next_change_id: next?.changeId,
      next_chain_id: next?.wallet.chainId,
      next_token_symbol: next?.wallet.token.symbol,
      next_token_address: next?.wallet.token.address,
      next_address: next?.wallet.receiverAddress,
      next_memo: next?.wallet.receiverMemo,
      next_effective_at: next?.effectiveAt,
      keyless_creation: after.keylessCreation,
      embedding_sites: after.embeddingSites,
      pay_from: after.payFrom,
      policy: after.policy,
      fees: after.fees,
    }),
  ];
});

/** Members of each app besides its owner, and people with an invitation. */
export const appMembers = ofStates('appMembers', 'merchant', ({ before, after }) => {
  const app_id = after.registration?.appId;
  if (app_id === undefined) return [];
  const rows = [
    ...after.members.map(({ developerId, role }) => ({ developer_id: developerId, role, invited_until: null })),
    ...after.invitations.map(({ developerId, role, expiresAt }) => ({
      developer_id: developerId,
      role,
      invited_until: expiresAt,
    })),
  ];
  const stays = new Set(rows.map(({ developer_id }) => developer_id));
  const gone = [...before.members, ...before.invitations].filter(({ developerId }) => !stays.has(developerId));
  return [
    ...gone.map(({ developerId: developer_id }) => remove('app_members', { app_id, developer_id })),
    ...rows.map((row) => upsert('app_members', { app_id, ...row })),
  ];
});

/** Notifications that people chose. */
export const appNotifications = ofStates('appNotifications', 'merchant', ({ before, after }) => {
  const app_id = after.registration?.appId;
  if (app_id === undefined) return [];
  return after.notifications
    .filter((choice) => !before.notifications.includes(choice))
    .map(({ developerId: developer_id, mail, bell, large_microUsd }) =>
      upsert('app_notifications', { app_id, developer_id, mail, bell, large: dollars(large_microUsd) ?? '0' }),
    );
});

/** App and permissions of a key, by its hash. Revoked keys remain, marked. */
export const apiKeys = ofEvents('apiKeys', (seen) => {
  if (seen.category !== 'merchant') return [];
  const { event, after, stored } = seen;
  if (event.type !== 'ApiKeyIssued' && event.type !== 'ApiKeyRenamed' && event.type !== 'ApiKeyRevoked') return [];
  const changed = after.keys.filter(({ keyId }) => keyId === event.data.keyId);
  return changed.map((key) => keyRow(seen, key, event.type === 'ApiKeyRevoked' ? stored.metadata.at : null));
});

const keyRow = (
  { stored }: SeenEventOf<'merchant'>,
  { keyId, hash, scope, hint, name, expiresAt }: IssuedKey,
  revoked_at: string | null,
) =>
  upsert('api_keys', {
    key_id: keyId,
    hash,
    app_id: instanceOf(stored.stream),
    scope,
    hint,
    name,
    expires_at: expiresAt,
    revoked_at,
  });

/** Changes of an app outside its own stream, for its owner's history. */
export const appChanges = ofEvents('appChanges', (seen) => {
  if (seen.category === 'link') return ofLink(seen);
  return seen.category === 'payment' ? ofRefund(seen) : [];
});

function ofLink({ event, after, stored }: SeenEventOf<'link'>): readonly RowChange[] {
  const kind = event.type === 'LinkClosed' ? 'linkClosed' : 'linkMade';
  const { appId: app_id, title, amount_microUsd } = after;
  return [upsert('app_changes', { ...changed(stored), app_id, kind, title, amount: dollars(amount_microUsd) })];
}

function ofRefund({ event, after, stored }: SeenEventOf<'payment'>): readonly RowChange[] {
  if (event.type !== 'RefundRequested' && event.type !== 'RefundCalledOff') return [];
  const order = after.refunds.find(({ refund }) => refund === event.data.refund)?.order;
  if (!order) return [];
  const { chainId: chain_id, token, receiver } = order;
  const { paymentId: payment_id, appId: app_id } = after.terms;
  return [
    upsert('app_changes', {
      ...{ ...changed(stored), app_id, payment_id, chain_id, receiver },
      kind: event.type === 'RefundRequested' ? 'refundOrdered' : 'refundCalledOff',
      amount: formatAmount(order.amount, token.decimals),
      token_symbol: token.symbol,
    }),
  ];
}

const changed = ({ id: event_id, metadata }: SeenEventOf['stored']) => ({
  ...{ event_id, changed_at: metadata.at, changed_by: metadata.cause },
  ...{ title: null, amount: null, token_symbol: null, chain_id: null, payment_id: null, receiver: null },
});

/** Feed of each app: every event of its payments, numbered in log order. */
export const appEvents = ofRecords('appEvents', 'payment', ({ before, after, stored }) => [
  number('app_events', {
    app_id: after.terms.appId,
    event_id: stored.id,
    type: stored.type,
    payment_id: after.terms.paymentId,
    order_id: after.terms.orderId,
    revision: stored.revision.toString(),
    status: statusOf(after),
    previous_status: before && statusOf(before),
    error_code: after.closed?.kind === 'bounced' ? after.closed.code : null,
    at: stored.metadata.at,
  }),
]);

/** Reusable links for their app's owner. */
export const links = ofStates('links', 'link', ({ after }) => [
  upsert('links', {
    link_id: after.linkId,
    app_id: after.appId,
    type: after.type,
    amount: dollars(after.amount_microUsd),
    min_amount: dollars(after.limits_microUsd?.min),
    max_amount: dollars(after.limits_microUsd?.max),
    title: after.title,
    description: after.description,
    source_chain_id: after.source?.chainId,
    source_token_symbol: after.source?.tokenSymbol,
    created_at: after.createdAt,
    closed_at: after.closedAt,
  }),
]);

const dollars = (microUsd: LinkTerms['amount_microUsd'] | undefined): string | null =>
  microUsd ? formatAmount(BigInt(microUsd), microUsdDecimals) : null;
