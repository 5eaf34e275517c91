import assert from 'node:assert/strict';
import { isSettledElsewhere, type RefusalKind, refusalKind } from '../../../../src/chains/evm/payouts/rail.ts';

/** Error texts by client, from their sources. */
const words: Readonly<Record<string, Readonly<Partial<Record<RefusalKind, readonly string[]>>>>> = {
  geth: {
    held: ['already known'],
    nonceUsed: ['nonce too low: next nonce 8, tx nonce 7', 'nonce too low'],
    outbid: ['replacement transaction underpriced', 'replacement transaction underpriced: new tx gas fee cap 1 < 2'],
    fee: [
      'transaction underpriced',
      'transaction underpriced: gas tip cap 1, minimum needed 1000000',
      'transaction gas price below minimum: gas tip cap 1, minimum needed 1000000',
      'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7',
    ],
    funds: [
      'insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1',
      'insufficient funds for gas * price + value: balance 1, queued cost 1, tx cost 2, overshot 2',
      'insufficient funds for transfer',
      'transaction would cause overdraft: sender balance 1, queued cost 2',
    ],
    gas: [
      'intrinsic gas too low: gas 20000, minimum needed 21000',
      'insufficient gas for floor data gas cost: gas 1, minimum needed 2',
      'exceeds block gas limit',
      'transaction gas limit too high (cap: 16777216, tx: 20000000)',
    ],
    policy: ['tx fee (1.20 ether) exceeds the configured cap (1.00 ether)'],
    busy: [
      'txpool is full',
      'account limit exceeded: pooled 16 txs',
      'future transaction tries to replace pending',
      'in-flight transaction limit reached for delegated accounts',
      'address already reserved',
      'authority already reserved',
      'gapped-nonce tx from delegated accounts',
      'nonce too high',
    ],
    invalid: [
      'invalid sender',
      'invalid sender: invalid chain id for signer: have 5 want 1',
      'max initcode size exceeded: code size 50000, limit 49152',
      'typed transaction too short',
      'rlp: too few elements for types.DynamicFeeTx',
      'transaction type not supported',
      'oversized data: transaction size 200000, limit 131072',
      'sender not an eoa: address 0x1',
      'max priority fee per gas higher than max fee per gas',
      'only replay-protected (EIP-155) transactions allowed over RPC',
      'negative value',
      'nonce has max value',
    ],
  },
  bor: {
    held: ['already known'],
    fee: ['transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000'],
    busy: ['txpool is full'],
  },
  bsc: {
    fee: ['transaction underpriced: tip needed 50000000, tip permitted 1'],
    policy: ['the sender address is in blacklist', 'blacklist account detected'],
  },
  'op-geth': {
    funds: ['insufficient funds for gas * price + value + rollup data fee'],
    busy: ['failed to forward transaction to sequencer, please try again. Error message: timeout'],
  },
  Nitro: {
    nonceUsed: ['nonce too low: address 0x1, tx: 7 state: 8'],
    fee: ['max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 10000000'],
    policy: ['Transaction rejected by chain policy'],
    busy: ['nonce too high: address 0x1, tx: 9 state: 7', 'sequencer is paused'],
  },
  Nethermind: {
    held: ['AlreadyKnown', 'already known'],
    nonceUsed: ['OldNonce, Current nonce: 8, nonce of rejected tx: 7', 'nonce too low'],
    outbid: ['ReplacementNotAllowed, existing transaction 0x1 has a higher fee'],
    fee: ['FeeTooLow, FeePerGas needs to be higher than 5 to be added to the TxPool', 'FeeTooLowToCompete'],
    funds: ['InsufficientFunds, Account balance: 1, cumulative cost: 2'],
    gas: ['GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000'],
    busy: ['NonceGap, Future nonce. Expected nonce: 7', 'NonceTooFarInFuture', 'Syncing', 'the node is syncing'],
    invalid: ['FailedToResolveSender', 'failed to recover sender', 'Invalid transaction: InvalidTxSignature'],
  },
  Besu: {
    held: ['Known transaction'],
    nonceUsed: ['Nonce too low'],
    outbid: ['Replacement transaction underpriced'],
    fee: ['Gas price below configured minimum gas price', 'Gas price below current base fee'],
    funds: [
      'Upfront cost exceeds account balance',
      'Upfront cost exceeds account balance (transaction up-front cost 0x2)',
    ],
    gas: ['Intrinsic gas exceeds gas limit', 'Transaction gas limit exceeds block gas limit'],
    policy: [
      'Sender account not authorized to send transactions',
      'Transaction fee cap exceeded',
      'Plugin has marked the transaction as invalid',
    ],
    busy: [
      'Nonce too high',
      'An invalid transaction with a lower nonce exists',
      'Transaction nonce is too distant from current sender nonce',
      'Initial sync is still in progress',
      'Transaction pool not enabled',
    ],
    invalid: ['Invalid signature', 'Wrong chainId'],
  },
  Erigon: {
    held: ['already known', 'existing tx with same hash', 'existing txn with same hash'],
    nonceUsed: ['nonce too low', 'mined'],
    outbid: [
      'replacement transaction underpriced',
      'could not replace existing tx',
      'INTERNAL_ERROR: could not replace existing tx',
      'replaced by transaction with higher tip',
    ],
    fee: ['underpriced', 'fee too low'],
    funds: ['insufficient funds'],
    gas: ['IntrinsicGas', 'gas limit is too high'],
    busy: ['pending sub-pool is full', 'baseFee sub-pool is full', 'queued sub-pool is full', 'spammer'],
    policy: ['sender is not allowed to send transactions by ACL policy'],
    invalid: ['invalid sender', 'oversized data', 'unsupported transaction type'],
  },
  Reth: {
    held: ['already imported', 'already known'],
    nonceUsed: ['nonce too low: next nonce 8, tx nonce 7'],
    outbid: ['insufficient gas price to replace existing transaction', 'replacement transaction underpriced'],
    fee: [
      'transaction underpriced',
      'transaction feeCap 1 below chain minimum',
      'max fee per gas less than block base fee',
    ],
    funds: ['transaction overdraws from account', 'insufficient funds for gas * price + value: have 1 want 2'],
    gas: ["transaction's gas limit 40000000 exceeds block's gas limit 30000000"],
    busy: [
      'transaction discarded outright due to pool size constraints',
      'rejected due to 0x1 being identified as a spammer',
      'transaction type 3 conflicts with existing transaction for 0x1',
    ],
    invalid: ['input data too large', 'invalid chain ID', 'transaction type not supported'],
  },
  OpenEthereum: {
    held: ['Transaction with the same hash was already imported.'],
    outbid: ['Transaction gas price is too low. There is another transaction with same nonce in the queue.'],
  },
  Frontier: { held: ['submit transaction to pool failed: Pool(AlreadyImported)'] },
  anvil: {
    held: ['transaction already imported'],
    nonceUsed: ['nonce too low'],
    gas: ['intrinsic gas too low', 'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit'],
    invalid: ['invalid chain id for signer', 'Failed to decode transaction', 'Empty transaction data'],
  },
};

describe('a node that refuses a transaction', () => {
  for (const [client, kinds] of Object.entries(words)) {
    for (const [kind, texts] of Object.entries(kinds)) {
      for (const text of texts) {
        it(`${client} says “${text}”: ${kind}`, () => assert.equal(refusalKind(text), kind));
      }
    }
  }

  it('may use unknown words', () => {
    for (const text of ['', 'Internal error', 'computer says no']) assert.equal(refusalKind(text), 'unknown');
  });

  it('counts as success if it has the transaction, has mined it, or has a higher bid', () => {
    const kinds = new Set(Object.values(words).flatMap((each) => Object.keys(each) as RefusalKind[]));
    assert.deepEqual([...kinds].filter(isSettledElsewhere).sort(), ['held', 'nonceUsed', 'outbid']);
  });
});
