/** Deploys a treasury's payin contract on a Stellar network. */
import {
  Address,
  Asset,
  Contract,
  hash,
  type Keypair,
  nativeToScVal,
  Operation,
  rpc,
  StrKey,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { payin } from '../../../../contracts/stellar/artifacts/payin.ts';
import { isPayinOf } from './scheme.ts';

export interface PayinOrder {
  readonly rpcUrl: string;
  /** Account (G…) that customers pay; fixed in the contract. */
  readonly treasury: string;
  /** `CODE:ISSUER`; fixed in the contract. */
  readonly token: string;
  /** Pays the fees and is part of the contract's id; it gets no rights. */
  readonly deployer: Keypair;
}

export interface PayinDeployed {
  readonly networkPassphrase: string;
  readonly contractId: string;
  /** Hash; null if the contract existed before. */
  readonly transaction: string | null;
  /** True if the treasury has a trustline for the token: without one nobody can pay. */
  readonly treasuryTrusts: boolean;
}

/** Offer per transaction besides its resources: 0.001 lumens. */
const inclusionFee_stroops = '10000';
const validFor_s = 60;
/** After the time bound the network has decided: 80 polls take 78 seconds. */
const pollsMax = 80;
const pause_ms = (poll: number): number => Math.min(poll * 200, 1_000);

/**
 * Deploys the contract unless it exists already. Its id follows from network, deployer, code, treasury and token, so an interrupted run can
 * be repeated and gives the same contract.
 * @throws Error if the network refuses or does not decide in time; the message names the transaction
 */
export async function deployPayin({ rpcUrl, treasury, token, deployer }: PayinOrder): Promise<PayinDeployed> {
  const server = new rpc.Server(rpcUrl, { allowHttp: rpcUrl.startsWith('http:') });
  const { passphrase } = await server.getNetwork().catch((cause: unknown) => {
    // Only the host: the rest of a URL may contain the key of a paid node.
    throw new Error(`no Stellar node answers at ${new URL(rpcUrl).host}`, { cause });
  });
  const [code = '', issuer] = token.split(':');
  const asset = new Asset(code, issuer);
  const tokenId = asset.contractId(passphrase);
  const salt = hash(Buffer.from(['payin', payin.wasmHash, treasury, tokenId].join(':')));
  const contractId = contractIdOf(passphrase, deployer.publicKey(), salt);
  const treasuryTrusts = await exists(server, trustlineKey(treasury, asset));
  const answer = (transaction: string | null): PayinDeployed => ({
    networkPassphrase: passphrase,
    contractId,
    transaction,
    treasuryTrusts,
  });
  if (await isDeployed(server, contractId, treasury, tokenId)) return answer(null);

  const wasmHash = Buffer.from(payin.wasmHash, 'hex');
  if (!(await exists(server, xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash: wasmHash }))))) {
    await carryOut(
      server,
      passphrase,
      deployer,
      Operation.uploadContractWasm({ wasm: Buffer.from(payin.wasm, 'base64') }),
    );
  }
  const constructorArgs = [treasury, tokenId].map((address) => nativeToScVal(address, { type: 'address' }));
  const address = new Address(deployer.publicKey());
  const create = Operation.createCustomContract({ address, wasmHash, constructorArgs, salt });
  return answer(await carryOut(server, passphrase, deployer, create));
}

/** Derived as on the network (CAP-46-02). */
function contractIdOf(passphrase: string, deployer: string, salt: Buffer): string {
  const preimage = new xdr.ContractIdPreimageFromAddress({ address: new Address(deployer).toScAddress(), salt });
  const envelope = xdr.HashIdPreimage.envelopeTypeContractId(
    new xdr.HashIdPreimageContractId({
      networkId: hash(Buffer.from(passphrase)),
      contractIdPreimage: xdr.ContractIdPreimage.contractIdPreimageFromAddress(preimage),
    }),
  );
  return StrKey.encodeContract(hash(envelope.toXDR()));
}

/** @throws Error if another contract has the id: only the deployer can have created it */
async function isDeployed(server: rpc.Server, contractId: string, treasury: string, tokenId: string): Promise<boolean> {
  const { entries } = await server.getLedgerEntries(new Contract(contractId).getFootprint());
  const instance = entries[0]?.val.contractData().val().instance();
  if (!instance) return false;
  if (isPayinOf(instance, treasury, tokenId)) return true;
  throw new Error(`${contractId} exists already but is not this payin contract: deploy with another account`);
}

const exists = async (server: rpc.Server, key: xdr.LedgerKey): Promise<boolean> =>
  (await server.getLedgerEntries(key)).entries.length > 0;

function trustlineKey(account: string, asset: Asset): xdr.LedgerKey {
  const accountId = xdr.PublicKey.publicKeyTypeEd25519(StrKey.decodeEd25519PublicKey(account));
  return xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId, asset: asset.toTrustLineXDRObject() }));
}

/** Simulates, signs and sends one operation and waits until the network has decided. @returns the transaction's hash */
async function carryOut(
  server: rpc.Server,
  networkPassphrase: string,
  signer: Keypair,
  operation: xdr.Operation,
): Promise<string> {
  const account = await server.getAccount(signer.publicKey());
  const draft = new TransactionBuilder(account, { fee: inclusionFee_stroops, networkPassphrase })
    .addOperation(operation)
    .setTimeout(validFor_s)
    .build();
  const transaction = await server.prepareTransaction(draft);
  transaction.sign(signer);
  const { status, hash: sent } = await server.sendTransaction(transaction);
  if (status === 'ERROR' || status === 'TRY_AGAIN_LATER') {
    throw new Error(`the node did not take transaction ${sent} (${status}): run it again later`);
  }
  const decided = await server.pollTransaction(sent, { attempts: pollsMax, sleepStrategy: pause_ms });
  if (decided.status === 'SUCCESS') return sent;
  const fate = decided.status === 'FAILED' ? 'failed' : `is in no ledger after ${validFor_s} s`;
  throw new Error(`transaction ${sent} ${fate}: look it up in an explorer, then run it again`);
}
