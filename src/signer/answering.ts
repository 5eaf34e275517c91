/** What a signer answers with: its notary for transfers, and addresses whose keys it alone can derive. */
import type { ChainFamily } from '../../domain/chains.ts';
import type { DepositOwner } from '../chains/family.ts';
import type { Signers } from '../chains/open.ts';
import type { Notary } from './notary.ts';
import type { Answering, Told } from './server.ts';

/** How long it looks at its nodes and the log for one request. */
const patience_ms = 25_000;

export interface AnsweringDeps {
  readonly signers: Signers;
  readonly notary: Notary;
  /** Makes one address by a salt of its own; null where none of the families has such. */
  readonly makeOwner: (() => DepositOwner) | null;
  readonly told: (line: Told) => void;
}

export function createAnswering({ signers, notary, makeOwner, told }: AnsweringDeps): Answering {
  return {
    accounts: [...signers].map(([family, { account }]: readonly [ChainFamily, { account: string }]) => ({
      family,
      account,
    })),
    check: (asked) => notary.check(asked, AbortSignal.timeout(patience_ms)),
    sign: (asked) => notary.sign(asked, AbortSignal.timeout(patience_ms)),
    async depositOwners(count) {
      if (!makeOwner) throw new RangeError('this signer has no seed that addresses are derived from');
      return Array.from({ length: count }, makeOwner);
    },
    told,
  };
}
