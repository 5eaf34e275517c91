/** What nodes mean when they refuse a transaction. JSON-RPC has no codes for it: each client has its own words, which change. */

/**
 * `held`: the node has these bytes. `nonceUsed`: a mined transaction has the nonce. `outbid`: another one of the nonce waits and pays no
 * less. `fee`: it offers too little now. `funds`: the account cannot pay for it. `gas`: it allows too little gas, or more than a block or
 * the node does. `policy`: whoever runs the node, or the chain, does not want it. `busy`: the node has no room, or does not yet know what
 * comes before it. `invalid`: no node would take it. `unknown`: words that are not in the table.
 */
export type RefusalKind =
  | 'held'
  | 'nonceUsed'
  | 'outbid'
  | 'fee'
  | 'funds'
  | 'gas'
  | 'policy'
  | 'busy'
  | 'invalid'
  | 'unknown';

/**
 * From the sources of geth (and its forks bor, bsc, op-geth), Nethermind, Besu, Erigon, Reth, Nitro; anvil for local chains. Read from above:
 * a replacement that is underpriced is another thing than a transaction that is.
 */
const table: readonly (readonly [RefusalKind, RegExp])[] = [
  [
    'held',
    /already ?(known|imported|exists)\b|already in\b|known transaction|existing txn? with same hash|in mempool/i,
  ],
  ['outbid', /replace(ment|d)?\b.*(underpriced|not ?allowed|higher tip|too low)|replacementnotallowed/i],
  ['outbid', /(could not|gas price to) replace existing|another transaction with same nonce/i],
  [
    'busy',
    /future transaction tries to replace|nonce (is )?too (high|distant|far)|noncegap|noncetoofar|lower nonce exists/i,
  ],
  ['nonceUsed', /nonce (is )?too low|oldnonce|^mined$|nonce.*already (used|mined)/i],
  ['policy', /chain policy|black ?list|not (allowed|authorized)|disallowed|marked the transaction as invalid|banned/i],
  ['policy', /exceeds the configured cap|fee ?cap exceeded/i],
  ['funds', /insufficient ?funds|upfront cost exceeds|overdraws|overdraft/i],
  [
    'gas',
    /intrinsic ?gas|floor data gas|exceeds (block'?s? )?gas ?limit|gas ?limit ?(reached|exceeded|is too high|too high)/i,
  ],
  ['gas', /exceeds (transaction|block)'?s? gas limit|gas limit \d+ exceeds/i],
  [
    'fee',
    /under ?priced|fee ?too ?low|less than block base fee|below (chain|configured|current|minimum)|tip (cap|needed)/i,
  ],
  [
    'busy',
    /pool is full|account limit exceeded|spammer|pool size constraints|in-?flight|gapped-nonce|reserved|syncing|sync is still/i,
  ],
  ['busy', /sequencer|(queue|buffer) is full|maxpending|too many pending|pool not enabled|conflict/i],
  [
    'invalid',
    /invalid (sender|signature|transaction|chain)|wrong ?chain|chain id|failedtoresolvesender|recover sender/i,
  ],
  ['invalid', /^rlp:|transaction too short|decode transaction|empty transaction|initcode size/i],
  [
    'invalid',
    /(not |un)supported|not an eoa|oversized|too large|negative value|nonce has max value|max priority fee per gas (higher|exceeds)|eip-?155/i,
  ],
];

/** @param detail the node's own words */
export const refusalKind = (detail: string): RefusalKind =>
  table.find(([, words]) => words.test(detail))?.[0] ?? 'unknown';

/** The bytes, or another transaction of their nonce, are where they are to be: what became of them their fate tells. */
export const isSettledElsewhere = (kind: RefusalKind): boolean =>
  kind === 'held' || kind === 'nonceUsed' || kind === 'outbid';
