/** Keys and changes of an app, from its own stream, so they are correct while read models are stopped. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { FeeTier, KeyScope, MerchantEvent, SettlementWallet } from '../domain/merchant/events.ts';
import { roleNames } from '../domain/merchant/roles.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import type { GetPaymentDeps } from './payments.ts';
import { build, decimalText, newestFirst, type PageOf, writeCursor } from './sql.ts';

export type AppAuditDeps = Pick<GetPaymentDeps, 'history' | 'read'>;

export interface ListedKey {
  readonly keyId: string;
  readonly name: string;
  readonly scope: KeyScope;
  /** Prefix and last four characters. */
  readonly hint: string;
  readonly createdAt: Instant;
  /** Cause of its event. */
  readonly createdBy: string;
  readonly expiresAt: Instant | null;
  /** Null unless revoked. */
  readonly revokedAt: Instant | null;
}

interface AppChange {
  /** Revision of the app's event, from 0. */
  readonly revision: number;
  readonly at: Instant;
  /** The event's `cause`. */
  readonly by: string;
  /** Text for people. Contains no secret: none of an app, and no query of a URL, which may hold one. */
  readonly what: string;
}

type Recorded = MerchantEvent & { readonly revision: number; readonly at: Instant; readonly by: string };

/** All keys that the app ever had, oldest first; null for an app that is not registered. @throws Unavailable */
export async function listKeys(deps: AppAuditDeps, appId: string): Promise<readonly ListedKey[] | null> {
  const events = await recorded(deps, appId);
  const revoked = new Map(events.flatMap(({ type, data, at }) => (type === 'ApiKeyRevoked' ? [[data.keyId, at]] : [])));
  const names = namesIn(events);
  const keys = events.flatMap(({ type, data, at, by }) => {
    if (type !== 'ApiKeyIssued') return [];
    const { keyId, scope, hint, expiresAt } = data;
    const name = names.get(keyId) ?? data.name;
    const revokedAt = revoked.get(keyId) ?? null;
    return [{ keyId, name, scope, hint, createdAt: at, createdBy: by, expiresAt, revokedAt }];
  });
  return events.length === 0 ? null : keys;
}

/** Every change of the app's settings and keys, oldest first; null for an app that is not registered. @throws Unavailable */
export async function listChanges(deps: AppAuditDeps, appId: string): Promise<readonly AppChange[] | null> {
  const events = await recorded(deps, appId);
  const known = knownIn(events);
  const changes = events.map((event) => {
    const { revision, at, by } = event;
    return { revision, at, by, what: textOf(event, known) };
  });
  return events.length === 0 ? null : changes;
}

async function recorded({ history, read }: AppAuditDeps, appId: string): Promise<readonly Recorded[]> {
  const events = await history(`merchant-${appId}`);
  return events.flatMap((stored) => {
    const event = read(stored) as MerchantEvent | undefined;
    const { at, cause: by } = stored.metadata;
    return event ? [{ ...event, revision: Number(stored.revision), at, by }] : [];
  });
}

/** Current name of each key. */
const namesIn = (events: readonly Recorded[]): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap(({ type, data }) =>
      type === 'ApiKeyIssued' || type === 'ApiKeyRenamed' ? [[data.keyId, data.name]] : [],
    ),
  );

/** Words of people for keys and endpoints, by id: the events name only the ids. */
interface Known {
  readonly keyNames: ReadonlyMap<string, string>;
  readonly keyHints: ReadonlyMap<string, string>;
  readonly endpoints: ReadonlyMap<string, string>;
}

const knownIn = (events: readonly Recorded[]): Known => ({
  keyNames: namesIn(events),
  keyHints: new Map(events.flatMap(({ type, data }) => (type === 'ApiKeyIssued' ? [[data.keyId, data.hint]] : []))),
  endpoints: new Map(
    events.flatMap(({ type, data }) =>
      type === 'WebhookEndpointAdded' ? [[data.endpointId, withoutQuery(data.url)]] : [],
    ),
  ),
});

function textOf(event: MerchantEvent, { keyNames, keyHints, endpoints }: Known): string {
  switch (event.type) {
    case 'MerchantRegistered':
      return 'registered the app';
    case 'OwnerSet':
      return 'set the owner';
    case 'ProfileSet':
      return `changed what it shows of itself: ${event.data.changed.join(', ')}`;
    case 'SettlementWalletSet':
      return `set its wallet: ${walletText(event.data)}`;
    case 'SettlementChangeRequested':
      return `asked for another wallet from ${event.data.effectiveAt} on: ${walletText(event.data.wallet)}`;
    case 'SettlementChangeCancelled':
      return 'called off the change of its wallet';
    case 'WebhookUrlSet':
      return event.data.url === null ? 'removed its webhook' : `set its webhook: ${withoutQuery(event.data.url)}`;
    case 'WebhookTypesSet':
      return event.data.types.length === 0
        ? 'chose no further types of webhooks'
        : `chose further types of webhooks: ${event.data.types.join(', ')}`;
    case 'WebhookSecretRotated':
      return `made a new webhook secret, fingerprint ${event.data.fingerprint}`;
    case 'WebhookSecretResealed':
      return 'kept its webhook secret under a new master key';
    case 'WebhookEndpointAdded':
      return `added webhook endpoint ${withoutQuery(event.data.url)}, for ${event.data.types.join(', ')}`;
    case 'WebhookEndpointTypesSet':
      return `chose types for webhook endpoint ${endpoints.get(event.data.endpointId)}: ${event.data.types.join(', ')}`;
    case 'WebhookEndpointSecretRotated':
      return `made a new secret for webhook endpoint ${endpoints.get(event.data.endpointId)}, fingerprint ${event.data.fingerprint}`;
    case 'WebhookEndpointSecretResealed':
      return `kept the secret of webhook endpoint ${endpoints.get(event.data.endpointId)} under a new master key`;
    case 'WebhookEndpointRemoved':
      return `removed webhook endpoint ${endpoints.get(event.data.endpointId)}`;
    case 'KeylessCreationSet':
      return `${event.data.allowed ? 'opened' : 'closed'} it for creation without a key`;
    case 'EmbeddingSitesSet':
      return event.data.sites.length === 0
        ? 'let no site show its payment pages in a frame'
        : `let sites show its payment pages in a frame: ${event.data.sites.join(', ')}`;
    case 'PayFromSet':
      return event.data.payFrom.length === 0
        ? 'lets payers choose no other chain'
        : `lets payers choose: ${event.data.payFrom.map(({ chainId, tokenSymbol }) => `${tokenSymbol} on ${chainOf(chainId).name}`).join(', ')}`;
    case 'PolicySet':
      return `set what happens with money that is not what was agreed: ${policyText(event.data)}`;
    case 'FeesSet':
      return event.data.fees.length === 0
        ? 'is charged the installation’s fee again'
        : `agreed fees of its own: ${event.data.fees.map(feeText).join('; ')}`;
    case 'ApiKeyIssued':
      return `issued key "${event.data.name}" (${event.data.scope}, ${event.data.hint}${until(event.data.expiresAt)})`;
    case 'ApiKeyRenamed':
      return `renamed key ${keyHints.get(event.data.keyId)} to "${event.data.name}"`;
    case 'ApiKeyRevoked':
      return `revoked key "${keyNames.get(event.data.keyId)}" (${keyHints.get(event.data.keyId)})`;
    case 'MemberInvited':
      return `invited person:${event.data.developerId} to the team as ${roleNames[event.data.role]}`;
    case 'InvitationEnded':
      return `ended the invitation of person:${event.data.developerId}`;
    case 'MemberJoined':
      return `added person:${event.data.developerId} to the team as ${roleNames[event.data.role]}`;
    case 'MemberRoleSet':
      return `changed the role of person:${event.data.developerId} to ${roleNames[event.data.role]}`;
    case 'MemberRemoved':
      return `removed person:${event.data.developerId} from the team`;
    case 'NotificationsSet':
      return 'chose their own notifications';
  }
}

function walletText({ chainId, token, receiverAddress, receiverMemo }: SettlementWallet): string {
  const memo = receiverMemo === null ? '' : ` with memo ${receiverMemo}`;
  return `${token.symbol} on ${chainOf(chainId).name} to ${receiverAddress}${memo}`;
}

function policyText({ tolerance, lateWithin_minutes, ...verdicts }: AmountPolicy): string {
  const forgiven = `${tolerance.basisPoints} basis points and ${dollars(tolerance.most_microUsd)} at most forgiven`;
  const said = Object.entries(verdicts).map(([rule, verdict]) => `${rule} ${verdict}`);
  const within = lateWithin_minutes > 0 ? [`late within ${lateWithin_minutes} minutes`] : [];
  return [forgiven, ...said, ...within].join(', ');
}

function feeText({ sourceChainId, destinationChainId, fixed_microUsd, basisPoints, belowCost }: FeeTier): string {
  const route = `from ${sourceChainId ?? 'every chain'} to ${destinationChainId ?? 'every chain'}`;
  return `${route} ${dollars(fixed_microUsd)} and ${basisPoints} basis points${belowCost ? ', even below cost' : ''}`;
}

const dollars = (microUsd: string): string => `$${formatAmount(BigInt(microUsd), microUsdDecimals)}`;

const until = (at: Instant | null): string => (at === null ? '' : `, until ${at}`);

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '?…');

export interface UsedKey extends ListedKey {
  /** Rounded to the hour; null for never. */
  readonly lastUsedAt: Instant | null;
}

/** @throws Unavailable */
export async function withLastUse(sql: Sql, keys: readonly ListedKey[]): Promise<readonly UsedKey[]> {
  const rows = await sql.query<{ key_id: string; hour: Instant }>(
    'SELECT key_id, hour FROM ops.key_uses WHERE key_id = ANY ($1)',
    [keys.map(({ keyId }) => keyId)],
  );
  const hours = new Map(rows.map(({ key_id, hour }) => [key_id, hour]));
  return keys.map((key) => ({ ...key, lastUsedAt: hours.get(key.keyId) ?? null }));
}

// Changes of an app, newest first, page by page: its own stream, which is read whole, plus its links and refunds from
// other streams.

/** `revision` is null for a change of a link or a refund, which is not an event of the app's stream. */
export type ListedChange = Omit<AppChange, 'revision'> & { readonly revision: number | null };

export interface ChangesPage {
  readonly changes: readonly ListedChange[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface Asked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A created or closed link, or an ordered or called-off refund. */
export interface OtherChange extends Omit<AppChange, 'revision'> {
  readonly eventId: string;
}

export interface HistoryDeps extends AppAuditDeps {
  readonly otherChanges: (appId: string, page: Asked) => Promise<PageOf<OtherChange> | Refusal>;
}

/** Revision in the app's own stream below which a page begins, then the cursor in the list of other changes, empty at its start. */
export const historyCursorPattern = '^[0-9]{1,9}(\\.[A-Za-z0-9_-]{1,100})?$';

/**
 * @param cursor `nextCursor` of the previous page, of the pattern above
 * @returns a refusal for an invalid cursor. @throws Unavailable
 */
export async function changesPage(
  deps: HistoryDeps,
  appId: string,
  { limit, cursor }: Asked,
): Promise<ChangesPage | Refusal> {
  const [below, otherCursor] = cursor?.split('.', 2) ?? [];
  const [all, others] = await Promise.all([
    listChanges(deps, appId),
    deps.otherChanges(appId, { limit, cursor: otherCursor }),
  ]);
  if (isRefusal(others)) return others;
  const own = (all ?? []).filter(({ revision }) => below === undefined || revision < Number(below)).reverse();
  const changes: ListedChange[] = [];
  let [ownShown, othersShown] = [0, 0];
  while (changes.length < limit) {
    const [change, other] = [own[ownShown], others.rows[othersShown]];
    if (other && (!change || other.at > change.at)) {
      const { at, by, what } = other;
      changes.push({ revision: null, at, by, what });
      othersShown += 1;
    } else if (change) {
      changes.push(change);
      ownShown += 1;
    } else break;
  }
  const isMore = ownShown < own.length || othersShown < others.rows.length || others.nextCursor !== null;
  const last = others.rows[othersShown - 1];
  const places = [own[ownShown - 1]?.revision ?? below ?? all?.length ?? 0];
  const ofOthers = last ? writeCursor(last.at, last.eventId) : otherCursor;
  return { changes, nextCursor: isMore ? [...places, ...(ofOthers ? [ofOthers] : [])].join('.') : null };
}

interface Row {
  readonly event_id: string;
  readonly changed_at: Instant;
  readonly changed_by: string;
  readonly kind: string;
  readonly title: string | null;
  readonly amount: string | null;
  readonly token_symbol: string | null;
  readonly chain_id: ChainId | null;
  readonly payment_id: string | null;
  readonly receiver: string | null;
}

/** Newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listOtherChanges(sql: Sql, appId: string, page: Asked): Promise<PageOf<OtherChange> | Refusal> {
  const query = build('app_changes').where('app_id', appId);
  const found = await newestFirst<Row>(sql, query, { at: 'changed_at', id: 'event_id' }, page);
  return isRefusal(found) ? found : { ...found, rows: found.rows.map(changeOf) };
}

const changeOf = (row: Row): OtherChange => ({
  eventId: row.event_id,
  at: row.changed_at,
  by: row.changed_by,
  what: row.kind.startsWith('refund') ? refundText(row) : linkText(row),
});

function linkText({ kind, title, amount }: Row): string {
  const sum = amount === null ? 'of an amount that the payer chooses' : `of ${decimalText(amount)} dollars`;
  return `${kind === 'linkClosed' ? 'closed' : 'made'} a reusable link ${sum}${title === null ? '' : `: "${title}"`}`;
}

function refundText({ kind, amount, token_symbol, chain_id, payment_id, receiver }: Row): string {
  const chain = chain_id === null ? '' : ` on ${chainOf(chain_id).name}`;
  const sum = `${decimalText(amount ?? '0')} ${token_symbol}${chain} of payment ${payment_id} to ${receiver}`;
  return `${kind === 'refundOrdered' ? 'ordered a refund' : 'called off the refund'} of ${sum}`;
}
