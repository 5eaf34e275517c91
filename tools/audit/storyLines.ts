/** A payment's story as the lines that `npm run audit -- payment <id>` prints. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Claim, Evidence } from './claims.ts';
import type { AuditEntry } from './entry.ts';
import { findingLines } from './report.ts';
import type { Story } from './story.ts';

/** One line per element: texts of a log come from others, and must not begin a line. */
export function storyLines({ events, transactions, findings, gaps }: Story): readonly string[] {
  return [
    ...events.flatMap(eventLines),
    '',
    ...transactions.flatMap(({ claims, shown }) => transactionLines(claims, shown)),
    '',
    ...gaps.map(({ of, why }) => `not looked at: ${of}: ${why}`),
    ...(findings.length === 0 ? ['Log and chains say the same.'] : findings.flatMap(findingLines)),
  ];
}

const eventLines = ({ stream, revision, at, type, id, link, sealed }: AuditEntry): readonly string[] => [
  `${at}  ${type}${stream.startsWith('payment-') ? '' : `  (${stream})`}`,
  `    event ${revision} ${id}, hash ${link}${sealed ? '' : ', WITHOUT A GOOD SEAL'}`,
];

function transactionLines(claims: readonly Claim[], shown: readonly Evidence[]): readonly string[] {
  const [first] = claims;
  if (!first) return [];
  const said = claims.map((claim) => `    the log: ${saidBy(claim)} (event ${claim.where.revision})`);
  const seen = shown.map(
    ({ block, blockHash, account, succeeded, changes }) =>
      `    the chain: block ${block} ${blockHash}, ${succeeded ? 'succeeded' : 'failed'}, ${account}: ${changes.map(({ asset, amount }) => amountText(first.chainId, asset, BigInt(amount))).join(', ') || 'nothing moved'}`,
  );
  return [
    `${chainOf(first.chainId).name} ${first.txHash}`,
    ...said,
    ...(seen.length > 0 ? seen : ['    the chain: nothing at that place']),
  ];
}

function saidBy(claim: Claim): string {
  switch (claim.kind) {
    case 'payin':
    case 'unmatched':
      return `${amountText(claim.chainId, claim.asset, BigInt(claim.amount))} came to ${claim.to}, ${claim.phase}`;
    case 'attempt':
      return `${amountText(claim.chainId, claim.asset, BigInt(claim.amount))} to ${claim.receiver}, ${claim.fate}${claim.cost ? `, fee ${claim.cost.fee}` : ''}`;
    case 'anchor':
      return `the memo ${claim.hash}`;
    case 'batch':
      return `${claim.members.length} payouts in one transaction, ${claim.fate}`;
    default:
      return `${claim.kind}, fee ${claim.fee}`;
  }
}

function amountText(chainId: ChainId, asset: string, units: bigint): string {
  const token = tokenAt(chainOf(chainId), asset);
  return token ? `${formatAmount(units, token.decimals)} ${token.symbol}` : `${units} of ${asset}`;
}
