/** Facts about the network for every part. */
import { Networks } from '@stellar/stellar-sdk';
import { sha256 } from '../xdr.ts';

export interface Network {
  readonly passphrase: string;
  readonly id: Buffer;
  /** The protocol version that its node reports. Contracts run as in `protocolVersion`. */
  readonly protocol: number;
}

/** The last closed ledger, or the one that is being closed. */
export interface LedgerHead {
  readonly sequence: number;
  /** Unix seconds. */
  readonly closedAt_s: number;
}

export const protocolVersion = 27;
/** In stroops per operation. */
export const baseFee = 100n;

/** With the public network's passphrase, assets have their production contract ids. */
export const createNetwork = (passphrase: string = Networks.PUBLIC, protocol = protocolVersion): Network => ({
  passphrase,
  id: sha256(passphrase),
  protocol,
});
