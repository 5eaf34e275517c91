/** Facts about the network for every part. */
import { Networks } from '@stellar/stellar-sdk';
import { sha256 } from '../xdr.ts';

export interface Network {
  readonly passphrase: string;
  readonly id: Buffer;
  /** The protocol that its node speaks of. Contracts run as in `protocolVersion`. */
  readonly protocol: number;
}

/** The last closed ledger, or the one that is being closed. */
export interface LedgerHead {
  readonly sequence: number;
  /** Unix seconds. */
  readonly closedAt_s: number;
}

export const protocolVersion = 27;
/** In stroops for each operation. */
export const baseFee = 100n;

/** The public network's passphrase gives assets the contract ids that they have in production. */
export const createNetwork = (passphrase: string = Networks.PUBLIC, protocol = protocolVersion): Network => ({
  passphrase,
  id: sha256(passphrase),
  protocol,
});
