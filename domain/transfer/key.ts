/** Names of transfers: in streams, in nonces' purposes, in what signers are told, in to-do lists. */

/** What a nonce and a signature are for, as limits count it. */
export const purposeKinds = [
  'payout',
  'refund',
  'withdrawal',
  'sweep',
  'deployment',
  'cancel',
  'batch',
  'anchor',
] as const;
export type PurposeKind = (typeof purposeKinds)[number];

export const transferKinds = ['payout', 'refund', 'unmatchedRefund', 'operation', 'batch'] as const;
/** Which stream a transfer belongs to: a payment's for payouts and refunds, that of unmatched money, that of a treasury operation or of a batch of payouts. */
export type TransferKind = (typeof transferKinds)[number];

export interface TransferKey {
  readonly kind: TransferKind;
  /** Of the stream: payment id, transfer id of unmatched money, operation id, batch id. */
  readonly id: string;
  /** The number of a payment's refund, or of a way back of unmatched money; 1 for everything that a stream has one of. */
  readonly part: number;
}

/** In one text, unique among all transfers. A payout's is its payment's id, which holds neither a slash nor begins like the others. */
export function referenceOf({ kind, id, part }: TransferKey): string {
  switch (kind) {
    case 'payout':
      return id;
    case 'refund':
      return `${id}/refund-${part}`;
    case 'unmatchedRefund':
      return part === 1 ? `unmatched-${id}` : `unmatched-${id}/refund-${part}`;
    case 'operation':
      return `operation-${id}`;
    case 'batch':
      return `batch-${id}`;
  }
}

/** The transfer of a reference. */
export function keyOf(reference: string): TransferKey {
  const { id = reference, part } = /^(?<id>.+)\/refund-(?<part>\d+)$/.exec(reference)?.groups ?? {};
  if (id.startsWith('unmatched-'))
    return { kind: 'unmatchedRefund', id: id.slice('unmatched-'.length), part: Number(part ?? 1) };
  if (part !== undefined) return { kind: 'refund', id, part: Number(part) };
  if (reference.startsWith('operation-'))
    return { kind: 'operation', id: reference.slice('operation-'.length), part: 1 };
  if (reference.startsWith('batch-')) return { kind: 'batch', id: reference.slice('batch-'.length), part: 1 };
  return { kind: 'payout', id: reference, part: 1 };
}

/** Of what uses up a nonce and is no transfer. */
export const cancelReference = (nonce: bigint | null): string => `nonce ${nonce}`;

/** Whether limits count it as money that leaves. */
export const moneyLeaves = (kind: PurposeKind): boolean =>
  kind === 'payout' || kind === 'refund' || kind === 'withdrawal' || kind === 'batch';
