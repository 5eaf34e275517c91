/** Kinds of calls, and what they count for where a node takes only so many: providers ask about three times as much for a search. */

export type MethodKind = 'search' | 'send' | 'read';

/** Logs, events, histories of accounts. */
const searches: ReadonlySet<string> = new Set([
  'eth_getLogs',
  'getEvents',
  'getTransactions',
  'getSignaturesForAddress',
]);
const sends: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'sendTransaction']);

export function kindOf(method: string): MethodKind {
  if (searches.has(method)) return 'search';
  return sends.has(method) ? 'send' : 'read';
}

/** In usual calls. Alchemy: 60 units for eth_getLogs, 20 for a block or a receipt; Infura: 255 and 80. */
export const costOf = (method: string): number => (searches.has(method) ? 3 : 1);
