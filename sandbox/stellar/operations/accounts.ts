/** Operations on accounts: creating one, skipping its sequence numbers, choosing its signers. */
import { Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { transferEvent } from '../events.ts';
import { addBalance, BalanceError, minimumBalance } from '../ledger/balances.ts';
import { accountEntry, accountKey } from '../ledger/entries.ts';
import { bigintOf, int64, noSponsors } from '../xdr.ts';
import { countSubEntries } from './changeTrust.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf, stroops } from './operation.ts';

export function createAccount(context: OperationContext, operation: OperationOf<'createAccount'>): Applied {
  const { view, network, ledger, source } = context;
  const { destination } = operation;
  const amount = stroops(operation.startingBalance);
  const lumens = Asset.native().contractId(network.passphrase);
  const fail = (result: xdr.CreateAccountResult) => failed(xdr.OperationResultTr.createAccount(result));

  if (view.get(accountKey(destination))) return fail(xdr.CreateAccountResult.createAccountAlreadyExist());
  if (amount < minimumBalance(0)) return fail(xdr.CreateAccountResult.createAccountLowReserve());
  try {
    addBalance(view, Asset.native(), lumens, source, -amount);
  } catch (error) {
    if (error instanceof BalanceError) return fail(xdr.CreateAccountResult.createAccountUnderfunded());
    throw error;
  }
  view.put(accountKey(destination), accountEntry(destination, amount, ledger.sequence));
  const event = transferEvent(Asset.native(), lumens, { from: source, to: destination, amount });
  return applied(xdr.OperationResultTr.createAccount(xdr.CreateAccountResult.createAccountSuccess()), [event]);
}

/** Skips sequence numbers: transactions with skipped numbers can never land. */
export function bumpSequence({ view, source }: OperationContext, operation: OperationOf<'bumpSequence'>): Applied {
  const bumpTo = BigInt(operation.bumpTo);
  view.change(accountKey(source), (data) => {
    if (bumpTo > bigintOf(data.account().seqNum())) data.account().seqNum(int64(bumpTo));
  });
  return applied(xdr.OperationResultTr.bumpSequence(xdr.BumpSequenceResult.bumpSequenceSuccess()));
}

/** Signers and weights of an account. Other options are accepted and have no effect here. */
export function setOptions(context: OperationContext, operation: OperationOf<'setOptions'>): Applied {
  const { view, source } = context;
  const { masterWeight, lowThreshold, medThreshold, highThreshold } = operation;
  const wanted = [masterWeight, lowThreshold, medThreshold, highThreshold];
  view.change(accountKey(source), (data) => {
    const thresholds = [...data.account().thresholds()].map((now, at) => Number(wanted[at] ?? now));
    data.account().thresholds(Buffer.from(thresholds));
  });
  const { signer } = operation;
  if (signer) {
    if (!('ed25519PublicKey' in signer) || !signer.ed25519PublicKey || signer.ed25519PublicKey === source) {
      return fail(xdr.SetOptionsResult.setOptionsBadSigner());
    }
    if (!setSigner(context, signer.ed25519PublicKey, Number(signer.weight ?? 0))) {
      return fail(xdr.SetOptionsResult.setOptionsLowReserve());
    }
  }
  return applied(xdr.OperationResultTr.setOptions(xdr.SetOptionsResult.setOptionsSuccess()));
}

/** Weight 0 removes. @returns whether the account's balance covers it */
function setSigner(context: OperationContext, publicKey: string, weight: number): boolean {
  const { view, source } = context;
  const key = xdr.SignerKey.signerKeyTypeEd25519(StrKey.decodeEd25519PublicKey(publicKey));
  const signers = view.get(accountKey(source))?.account().signers() ?? [];
  const others = signers.filter((signer) => !signer.key().toXDR().equals(key.toXDR()));
  const next = weight > 0 ? [...others, new xdr.Signer({ key, weight })] : others;
  if (next.length !== signers.length && !countSubEntries(context, next.length - signers.length)) return false;
  view.change(accountKey(source), (data) => {
    data.account().signers(next);
    keepSponsors(data.account());
  });
  return true;
}

/** Each signer has a sponsor or none; nobody sponsors here. */
function keepSponsors(account: xdr.AccountEntry): void {
  const first = account.ext().switch() === 1 ? account.ext().v1() : undefined;
  if (first?.ext().switch() === 2) first.ext().v2().signerSponsoringIDs(noSponsors(account.signers().length));
}

const fail = (result: xdr.SetOptionsResult) => failed(xdr.OperationResultTr.setOptions(result));
