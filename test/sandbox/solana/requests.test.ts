import assert from 'node:assert/strict';
import { request } from 'node:http';
import {
  address,
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
  type SolanaErrorCode,
  signature,
} from '@solana/kit';
import { Keypair } from 'solana-web3-v1';
import { type SolanaLab, solanaLab, usdcMint } from '../../support/solana.ts';

const key = Keypair.generate().publicKey.toBase58();
const someSignature = '1'.repeat(64);

describe('local Solana: requests', () => {
  let lab: SolanaLab;
  before(async () => {
    lab = await solanaLab();
  });
  after(() => lab.stop());
  const codeOf = async (method: string, ...params: unknown[]) => (await lab.call(method, ...params)).error?.code;

  it('refuses bodies that are no call', async () => {
    const refused = async (body: unknown) => (await lab.post(body)).body.error;
    const call = { jsonrpc: '2.0', id: 1, method: 'getSlot' };
    for (const body of ['{"jsonrpc":', 1, null, [1], { ...call, id: 1.5 }, { ...call, id: {} }])
      assert.equal((await refused(body))?.code, -32700);
    for (const body of [{}, { ...call, method: 5 }, { ...call, params: 5 }, { ...call, more: 1 }])
      assert.deepEqual(await refused(body), { code: -32600, message: 'Invalid request' });
    const unversioned = await refused({ id: 1, method: 'getSlot' });
    assert.deepEqual(unversioned, { code: -32600, message: 'Unsupported JSON-RPC protocol version' });
    assert.deepEqual(await refused({ ...call, params: {} }), {
      code: -32602,
      message: '`params` should be an array',
    });
  });

  it('answers nothing to a notification, nor to an empty batch', async () => {
    const notification = { jsonrpc: '2.0', method: 'getSlot' };
    for (const body of [notification, [notification, notification], []]) {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(lab.solana.rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.deepEqual([response.status, await response.text()], [200, '']);
    }
  });

  it('knows only its methods, and none that every object has', async () => {
    for (const method of ['getConfirmedTransaction', 'toString', '__proto__', 'constructor', 'sandbox_']) {
      assert.deepEqual(await lab.call(method), { error: { code: -32601, message: 'Method not found' } });
    }
  });

  it('answers a batch in its order', async () => {
    const calls = ['getSlot', 'nothing', 'getBlockHeight'].map((method, id) => ({ jsonrpc: '2.0', id, method }));
    const { body } = await lab.post(calls);
    const replies = body as unknown as { id: number; error?: { code: number } }[];
    assert.deepEqual(
      replies.map(({ id, error }) => [id, error?.code]),
      [
        [0, undefined],
        [1, -32601],
        [2, undefined],
      ],
    );
  });

  it('accepts JSON by POST only, of at most 50 KiB', async () => {
    const headers = { 'content-type': 'application/json' };
    const statusOf = async (init: RequestInit) => (await fetch(lab.solana.rpcUrl, init)).status;
    assert.equal(await statusOf({}), 405);
    assert.equal(await statusOf({ method: 'POST', body: '{}' }), 415);
    assert.equal(await statusOf({ method: 'POST', headers, body: 'x'.repeat(50 * 1024) }), 200);
    assert.equal(await statusOf({ method: 'POST', headers, body: 'x'.repeat(50 * 1024 + 1) }), 413);
  });

  it('survives a caller that disconnects in the middle of its request', async () => {
    const half = request(lab.solana.rpcUrl, { method: 'POST', headers: { 'content-length': '100' } });
    half.on('error', () => {});
    await new Promise<void>((sent) => half.write('{"jsonrpc"', () => sent()));
    half.destroy();
    assert.equal((await lab.call('getHealth')).result, 'ok');
  });

  const notLists: unknown[] = [undefined, null, 5, 'abc', {}];
  const badAddresses = [undefined, null, 5, '', 'abc', '0x12', 'O'.repeat(44), `${key}1111`];
  const bad: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
    getBalance: badAddresses.map((each) => [each]),
    getAccountInfo: [
      ...badAddresses.map((each) => [each]),
      [key, 'base64'],
      [usdcMint.toBase58(), { encoding: 'hex' }],
      [usdcMint.toBase58(), { encoding: 'base64', dataSlice: { offset: -1, length: 2 } }],
      [key, { minContextSlot: -1 }],
    ],
    getMultipleAccounts: [...notLists.map((each) => [each]), [[key, 'abc']], [Array.from({ length: 101 }, () => key)]],
    getTokenAccountBalance: [...badAddresses.map((each) => [each]), [key], [usdcMint.toBase58()]],
    getTokenSupply: [[key], ['abc']],
    getTokenAccountsByOwner: [[key], [key, {}], [key, { mint: key }], [key, { programId: key }]],
    getSignatureStatuses: [...notLists.map((each) => [each]), [[key]], [Array.from({ length: 257 }, () => key)]],
    getSignaturesForAddress: [
      ...badAddresses.map((each) => [each]),
      ...[0, -1, 1_001, '5'].map((limit) => [key, { limit }]),
      [key, { before: 'abc' }],
      [key, { commitment: 'processed' }],
    ],
    getTransaction: [[undefined], ['abc'], [key], [someSignature, { commitment: 'processed' }]],
    getBlock: [[undefined], ['7'], [-1], [1.5], [1_000, { transactionDetails: 'everything' }]],
    getBlocks: [[undefined], [0, 600_000, 7], [-1]],
    getBlockTime: [[undefined], ['7']],
    getMinimumBalanceForRentExemption: [[undefined], [-1]],
    getFeeForMessage: [[undefined], ['AAAA']],
    isBlockhashValid: [[undefined], [5]],
    getRecentPrioritizationFees: [[key], [Array.from({ length: 129 }, () => key)]],
    requestAirdrop: [[key], [key, '5'], [key, -1], ['abc', 5]],
    sendTransaction: [
      [undefined],
      ['0OIl'],
      ['', { encoding: 'base64' }],
      ['AAAA', { encoding: 'base64' }],
      ['AAAA', { encoding: 'hex' }],
      [Buffer.alloc(1_233).toString('base64'), { encoding: 'base64' }],
    ],
    simulateTransaction: [[undefined], ['AAAA', { encoding: 'base64' }]],
    sandbox_plant: [[], [{ mint: 'abc' }], [{ mint: key, program: key }], [{ mint: key, decimals: 20 }]],
    sandbox_fund: [[], [{ address: key, lamports: 5 }], [{ address: key, tokens: { [usdcMint.toBase58()]: '-1' } }]],
    sandbox_fault: [[{ method: '*' }], [{ kind: 'drop', method: '*' }], [{ kind: 'lagging', method: '*', slots: 65 }]],
    sandbox_advanceSlots: [[{ slots: -1 }], [{ slots: 100_001 }]],
    sandbox_fork: [[{}], [{ to: 0 }], [{ to: 1_000_000 }]],
  };
  for (const [method, all] of Object.entries(bad)) {
    it(`${method} refuses wrong parameters with -32602`, async () => {
      for (const params of all) {
        assert.equal(await codeOf(method, ...params), -32602, `${method} of ${JSON.stringify(params).slice(0, 200)}`);
      }
    });
  }

  it('states errors in the network’s own words', async () => {
    const said = async (method: string, ...params: unknown[]) => (await lab.call(method, ...params)).error?.message;
    assert.equal(await said('getBalance', 'O'.repeat(44)), 'Invalid param: Invalid');
    assert.equal(await said('getBalance', 'abc'), 'Invalid param: WrongSize');
    assert.equal(await said('getTokenAccountBalance', key), 'Invalid param: could not find account');
    assert.equal(await said('getTokenAccountBalance', usdcMint.toBase58()), 'Invalid param: not a Token account');
    assert.equal(await said('getTokenAccountsByOwner', key, { mint: key }), 'Invalid param: could not find mint');
    assert.equal(await said('getSignaturesForAddress', key, { limit: 0 }), 'Invalid limit; max 1000');
    const many = Array.from({ length: 101 }, () => key);
    assert.equal(await said('getMultipleAccounts', many), 'Too many inputs provided; max 100');
  });

  describe('through @solana/kit', () => {
    const failsWith = (code: SolanaErrorCode, context?: object) => (error: unknown) => {
      assert.ok(isSolanaError(error, code), String(error));
      assert.deepEqual({ ...error.context, ...context }, error.context);
      return true;
    };

    it('has blocks neither of later slots nor of those before its first', async () => {
      const head = await lab.rpc.getSlot({ commitment: 'processed' }).send();
      const later = lab.rpc.getBlock(head + 1n, { commitment: 'confirmed' }).send();
      await assert.rejects(later, failsWith(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE));
      await assert.rejects(
        lab.rpc.getBlockTime(999n).send(),
        failsWith(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED, {
          __serverMessage: 'Slot 999 was skipped, or missing due to ledger jump to recent snapshot',
        }),
      );
    });

    it('states its slot when a caller has seen a later one', async () => {
      const contextSlot = await lab.rpc.getSlot({ commitment: 'finalized' }).send();
      const minContextSlot = contextSlot + 1n;
      const options = { commitment: 'finalized', minContextSlot } as const;
      const code = SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED;
      await assert.rejects(lab.rpc.getBalance(address(key), options).send(), failsWith(code, { contextSlot }));
      const { context } = await lab.rpc.getBalance(address(key), { ...options, commitment: 'confirmed' }).send();
      assert.ok(context.slot >= minContextSlot);
    });

    it('returns v0 transactions only to callers that support them', async () => {
      const payer = await lab.person();
      const sent = signature(await lab.pay({ from: payer, to: Keypair.generate().publicKey, amount: 1n }));
      lab.solana.advanceSlots();
      const code = SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION;
      await assert.rejects(lab.rpc.getTransaction(sent).send(), failsWith(code));
      await assert.rejects(lab.connection.getTransaction(sent, { commitment: 'confirmed' }), /version \(0\)/);
      const got = await lab.rpc.getTransaction(sent, { maxSupportedTransactionVersion: 0, encoding: 'json' }).send();
      assert.equal(got?.version, 0);
    });

    it('names wrong parameters', async () => {
      const mint = { mint: address(key) };
      await assert.rejects(
        lab.rpc.getTokenAccountsByOwner(address(key), mint, { encoding: 'jsonParsed' }).send(),
        failsWith(SOLANA_ERROR__JSON_RPC__INVALID_PARAMS),
      );
    });
  });
});
