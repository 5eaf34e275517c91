/** Tokens on Stellar: an issuer's asset, and the contract that moves the asset. */
import { Asset } from '@stellar/stellar-sdk';
import { findToken, type Token } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { isCoin } from '../../../domain/money.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { stellarChain } from './config.ts';

/** Asset of a token, whose address is `CODE:ISSUER` in the catalogue; lumens for the coin. */
export function assetOf({ address }: Pick<AssetRef, 'address'>): Asset {
  if (isCoin({ address })) return Asset.native();
  const [code = '', issuer] = address.split(':');
  return new Asset(code, issuer);
}

/** The asset's own contract (C…), derived from asset and network. */
export const assetContractOf = (token: Pick<AssetRef, 'address'>, networkPassphrase: string): string =>
  assetOf(token).contractId(networkPassphrase);

/** Token of the payin contract: a contract has one token, and its intent is offered for USDC. */
export function payinToken(): Token {
  const token = findToken(stellarChain(), 'USDC');
  assert(token !== undefined, 'Stellar has USDC');
  return token;
}
