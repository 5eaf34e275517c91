/** Gives lumens to new accounts by a real transaction of the root account, which owns all lumens at the start. */
import { Account, Asset, Keypair, Operation, StrKey, TransactionBuilder } from '@stellar/stellar-sdk';
import type { Chain } from './chain/chain.ts';
import { accountEntry, accountKey } from './ledger/entries.ts';
import type { Network } from './ledger/network.ts';
import { type Planting, plantAsset } from './plant.ts';
import { parseEnvelope } from './transactions/envelope.ts';

const startingBalance = '10000';
/** Half of the largest balance, so that no balance overflows. */
const allLumens = 2n ** 62n;

/** Its key follows from the network's name, as on standalone networks. */
const rootOf = ({ id }: Network): Keypair => Keypair.fromRawEd25519Seed(id);

/** The start of every chain: the root account, and the contract of lumens. */
export function genesis(planting: Planting): void {
  const root = rootOf(planting.network).publicKey();
  planting.view.put(accountKey(root), accountEntry(root, allLumens, planting.ledger.sequence));
  plantAsset(planting, Asset.native());
}

export type Funding = { readonly hash: string } | { readonly refused: string };

/** Creates an account in a ledger of its own. */
export function fundNewAccount(chain: Chain, address: string): Funding {
  if (!StrKey.isValidEd25519PublicKey(address)) return { refused: `not an account: ${address}` };
  if (chain.state.get(accountKey(address))) return { refused: `createAccountAlreadyExist: ${address}` };
  const root = rootOf(chain.network);
  const sequence = chain.state.get(accountKey(root.publicKey()))?.data().account().seqNum().toString();
  const transaction = new TransactionBuilder(new Account(root.publicKey(), sequence ?? '0'), {
    fee: '100',
    networkPassphrase: chain.network.passphrase,
  })
    .addOperation(Operation.createAccount({ destination: address, startingBalance }))
    .setTimeout(0)
    .build();
  transaction.sign(root);
  chain.close([parseEnvelope(transaction.toXDR(), chain.network.passphrase)]);
  return { hash: transaction.hash().toString('hex') };
}
