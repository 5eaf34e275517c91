import type { LinkTerms } from '../domain/link.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import { ofStates, upsert } from './projection.ts';

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

export const dollars = (microUsd: LinkTerms['amount_microUsd'] | undefined): string | null =>
  microUsd ? formatAmount(BigInt(microUsd), microUsdDecimals) : null;
