/** `heads-log`: what it says about chains. Whether its entries follow each other is looked at beside the whole log. */
import type { Out } from '../claims.ts';
import type { Entry } from '../entry.ts';
import type { Reckoner } from './reckoner.ts';

export function createAnchorReckoner(out: Out): Reckoner {
  return {
    next({ stream, revision, id, type, data, position, at }: Entry) {
      if (type !== 'HeadAnchored') return;
      const { chainId, account, transaction: txHash, headHash: hash, ledger: block } = data;
      const where = { stream, revision, id };
      out.claim({
        side: 'log',
        kind: 'anchor',
        where,
        position,
        at,
        chainId,
        txHash,
        account,
        hash,
        block,
        cost: null,
      });
    },
    end() {},
  };
}
