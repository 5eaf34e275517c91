/** Calls of `pay` submitted by one account and authorized by another: possible manipulations in transit. */
import assert from 'node:assert/strict';
import {
  authorizeEntry,
  hash,
  type Keypair,
  Operation,
  rpc,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { payCall, type StellarTools } from './stellar.ts';

export type Entry = xdr.SorobanAuthorizationEntry;

/** By default, `contract` is paid `amount`. */
export interface Sponsoring {
  readonly tools: StellarTools;
  readonly contract: string;
  readonly payer: Keypair;
  readonly sponsor: Keypair;
  readonly amount: bigint;
}

export interface SponsoredOrder {
  readonly memo: string;
  readonly amount?: bigint;
  readonly contract?: string;
}

/** @param world called at each use: tests make it before they begin */
export function sponsoring(world: () => Sponsoring) {
  const lastLedger = async () => (await world().tools.server.getLatestLedger()).sequence;
  const authorize = (entry: Entry, signer: Keypair, until: number) =>
    authorizeEntry(
      entry,
      async (preimage) => ({ signature: signer.sign(hashOf(preimage)), publicKey: signer.publicKey() }),
      until,
      world().tools.passphrase,
    );
  const signedBy = (signer: Keypair) => async (entry: Entry) => authorize(entry, signer, (await lastLedger()) + 100);

  /** The sponsor's transaction as simulated, and the entry that the payer is to sign. */
  async function simulated(order: SponsoredOrder): Promise<{ transaction: Transaction; entry: Entry }> {
    const { tools, contract, payer, sponsor, amount } = world();
    const operation = payCall(order.contract ?? contract, payer.publicKey(), order.amount ?? amount, order.memo);
    const transaction = await tools.build(sponsor.publicKey(), [operation]);
    const answer = await tools.server.simulateTransaction(transaction);
    assert.ok(rpc.Api.isSimulationSuccess(answer));
    const entry = answer.result?.auth[0];
    assert.ok(entry);
    return { transaction: rpc.assembleTransaction(transaction, answer).build(), entry };
  }

  async function sponsored(order: SponsoredOrder, sign: (entry: Entry) => Promise<Entry>) {
    const { transaction, entry } = await simulated(order);
    return submit(transaction, [await sign(entry)]);
  }

  function submit(transaction: Transaction, auth: Entry[]) {
    const [operation] = transaction.operations;
    assert.equal(operation?.type, 'invokeHostFunction');
    const sorobanData = transaction.toEnvelope().v1().tx().ext().sorobanData();
    const builder = TransactionBuilder.cloneFrom(transaction, { fee: transaction.fee, sorobanData });
    builder.clearOperations();
    const final = builder.addOperation(Operation.invokeHostFunction({ func: operation.func, auth })).build();
    final.sign(world().sponsor);
    return world().tools.send(final);
  }

  /** Announces the nonce of another authorization, so only the authorization itself can be wrong. */
  function withNonceOf(transaction: Transaction, signed: Entry): Transaction {
    const credentials = signed.credentials().address();
    const envelope = transaction.toEnvelope();
    const footprint = envelope.v1().tx().ext().sorobanData().resources().footprint();
    const nonce = xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce: credentials.nonce() }));
    footprint.readWrite().push(
      xdr.LedgerKey.contractData(
        new xdr.LedgerKeyContractData({
          contract: credentials.address(),
          key: nonce,
          durability: xdr.ContractDataDurability.temporary(),
        }),
      ),
    );
    return TransactionBuilder.fromXDR(envelope, world().tools.passphrase) as Transaction;
  }

  return { lastLedger, authorize, signedBy, simulated, sponsored, submit, withNonceOf };
}

const hashOf = (preimage: xdr.HashIdPreimage) => hash(preimage.toXDR());
