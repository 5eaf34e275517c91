/** Simulated instances of the service: all of its roles unchanged, on replaced edges. A crashed instance is started again. */
import { fileURLToPath } from 'node:url';
import type { ChosenSource } from '../../../commands/chooseSource.ts';
import type { CreatedPayment, NewPayment, Settlement } from '../../../commands/createPayment.ts';
import type { By } from '../../../commands/handle.ts';
import { matchUnmatched, type RefundUnmatched, refundUnmatched } from '../../../commands/matchUnmatched.ts';
import type { SettlementRequest } from '../../../commands/merchantRegistration.ts';
import type { CashbackRequest, PaymentResult } from '../../../commands/payByCredit.ts';
import type { AskedRefund, OrderedRefunds } from '../../../commands/refunds.ts';
import type { Accepted, RelayRefusal, SignedAuthorization } from '../../../commands/relayPorts.ts';
import type { WithdrawalAsked, Withdrawn } from '../../../commands/withdrawCashback.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../../domain/decider.ts';
import { microUsdDecimals } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { approveRebalance, callOffRebalance, rebalance } from '../../../domain/rebalance/rebalance.ts';
import { findApp } from '../../../queries/apps.ts';
import { commandsOf, relaysOf } from '../../../src/api/index.ts';
import { cashbackSignPath } from '../../../src/api/routes/cashback.ts';
import { createAttestations } from '../../../src/chains/attestations.ts';
import { familyAddresses } from '../../../src/chains/families.ts';
import { referenceKey } from '../../../src/chains/solana/signer/keys.ts';
import { type Config, readConfig } from '../../../src/config.ts';
import { type Core, openCore } from '../../../src/core.ts';
import { systemClock } from '../../../src/process/system.ts';
import { runProjectionsRole } from '../../../src/readmodels/index.ts';
import { cashbackOf } from '../../../src/workers/cashback/index.ts';
import { guardNodes } from '../../../src/workers/health/index.ts';
import { runSubscribersRole } from '../../../src/workers/index.ts';
import { callOffRefund, holdPayout, type RefundKey, retryPayout } from '../../../src/workers/payouts/byHand.ts';
import { readNumberingAccounts } from '../../../src/workers/payouts/numberingAccounts.ts';
import { type AskedMove, type MoveOrdered, orderMove } from '../../../src/workers/rebalances/order.ts';
import { payoutCostsOf, refundsOf } from '../../../src/workers/refunds/index.ts';
import { explainNoncesOf, resumePayouts } from '../../../src/workers/treasury/account.ts';
import { withdrawals } from '../../../src/workers/treasury/index.ts';
import {
  addToBook,
  approve,
  type BookRequest,
  callOff,
  recordArrival,
} from '../../../src/workers/treasury/operations.ts';
import {
  type AskedWithdrawal,
  orderWithdrawal,
  type WithdrawalOrdered,
} from '../../../src/workers/treasury/withdraw.ts';
import { relayKey } from '../chains/evm/chain.ts';
import { depositSeed, relayWallet } from '../chains/solana/chain.ts';
import type { SimulatedChain } from '../kernel/ports.ts';
import { endProcess, runIn, type SimulatedProcess } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';
import { type Habits, habitVariables } from './habits.ts';

export const appId = 'wallet_simulated';
const publicUrl = 'https://pay.example.com';
/** The messages that spend credit name it. */
export const cashbackUrl = `${publicUrl}${cashbackSignPath}`;
const webhookUrl = 'https://merchant.example/webhooks';
const by = { cause: 'operator:simulated' } as const;
const approver = { cause: 'operator:second' } as const;

/** Calls of a running instance. */
export interface Api {
  readonly create: (request: NewPayment) => Promise<CreatedPayment | Refusal>;
  /** As the payment's page does. */
  readonly choose: (paymentId: string, source: ChosenSource) => Promise<Payment | Refusal>;
  /** As a payer's program does by x402, and a page. */
  readonly relay: (paymentId: string, signed: SignedAuthorization) => Promise<Accepted | RelayRefusal>;
  /** The same with a transaction that the program built. */
  readonly relaySent: (paymentId: string, chainId: ChainId, transaction: string) => Promise<Accepted | RelayRefusal>;
  /** As `POST /v1/cashbacksign` and the merchant's withdrawal do. */
  readonly payByCredit: (request: CashbackRequest) => Promise<PaymentResult | Refusal>;
  readonly withdrawCashback: (asked: WithdrawalAsked) => Promise<Withdrawn | Refusal>;
  /** Acts like an operator after a restored log: holds these payments, which were paid, and lets the treasury's accounts continue. */
  readonly settle: (paid: readonly string[]) => Promise<void>;
  /** As `npm run refunds -- order` does. */
  readonly refund: (paymentId: string, asked: AskedRefund) => Promise<OrderedRefunds | Refusal>;
  /** As `npm run payouts -- hold` and `retry` do. */
  readonly hold: (paymentId: string) => Promise<unknown>;
  readonly retry: (paymentId: string) => Promise<unknown>;
  /** As `npm run treasury -- address add`, `withdraw`, `approve` (by a second operator) and `call-off` do. */
  readonly addAddress: (asked: BookRequest & { readonly label: string }) => Promise<unknown>;
  readonly withdraw: (asked: AskedWithdrawal) => Promise<WithdrawalOrdered | Refusal>;
  readonly approve: (id: string) => Promise<unknown>;
  readonly callOffOperation: (id: string) => Promise<unknown>;
  /** As `npm run treasury -- rebalance --burn`, `approve` (by a second operator) and `call-off` do. */
  readonly move: (asked: AskedMove) => Promise<MoveOrdered | Refusal>;
  readonly approveMove: (id: string) => Promise<object>;
  readonly cancelMove: (id: string) => Promise<object>;
  /** As `npm run treasury -- arrived` does. */
  readonly arrived: (id: string, hash: string) => Promise<unknown>;
  /** As `npm run refunds -- call-off` does. */
  readonly callOffRefund: (key: RefundKey) => Promise<unknown>;
  /** As `npm run unmatched -- match` and `refund` do. */
  readonly matchUnmatched: (id: string, paymentId: string) => Promise<unknown>;
  readonly refundUnmatched: (id: string, asked: RefundUnmatched) => Promise<unknown>;
}

export interface Instance {
  /** Null while it is down or starts. */
  api(): { readonly process: SimulatedProcess; readonly api: Api } | null;
  start(): void;
  /** Ends it permanently, at once. */
  end(): void;
  /** True if it is this instance's process. */
  has(process: SimulatedProcess): boolean;
}

/** Variables with keys of the treasury. */
const keys = ['TREASURY_PRIVATE_KEY', 'SOLANA_TREASURY_PRIVATE_KEY', 'SOLANA_DEPOSIT_SEED', 'STELLAR_TREASURY_SECRET'];
const signerPlace = { host: 'signer.simulated', port: '3003' };
/** Certificates of a simulated connection are never read: any file will do. */
const anyFile = fileURLToPath(import.meta.url);
const certificates = { SIGNER_CA_FILE: anyFile, SIGNER_CERT_FILE: anyFile, SIGNER_KEY_FILE: anyFile };

const common = (chains: readonly SimulatedChain[]): Readonly<Record<string, string>> => ({
  MODE: 'sandbox',
  LOG_LEVEL: 'silent',
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  MASTER_KEY: '5e'.repeat(32),
  ...Object.assign({}, ...chains.map(({ variables }) => variables)),
});

/** Configuration of the signer process in worlds with a separate one. */
export const signerConfigOf = (chains: readonly SimulatedChain[]): Config =>
  readConfig({
    ...common(chains),
    ...certificates,
    ...{ ROLES: 'signer', SIGNER_HOST: signerPlace.host, SIGNER_PORT: signerPlace.port },
  });

export function configOf(chains: readonly SimulatedChain[], habits: Habits): Config {
  const all = common(chains);
  const isRemote = habits.has('signer');
  return readConfig({
    ...(isRemote ? Object.fromEntries(Object.entries(all).filter(([name]) => !keys.includes(name))) : all),
    ...(isRemote && {
      ...certificates,
      SIGNER_URL: `https://${signerPlace.host}:${signerPlace.port}`,
      SOLANA_REFERENCE_KEY: Buffer.from(referenceKey(depositSeed)).toString('hex'),
    }),
    DATABASE_URL: 'postgres://simulated@localhost/simulated',
    ...habitVariables(habits, chains, { evm: relayKey, solana: relayWallet.key }),
  });
}

/** @param name of its place, such as `a` */
export function createInstance(name: string, config: Config, wallet: Settlement | null): Instance {
  let starts = 0;
  let process: SimulatedProcess | null = null;
  let api: Api | null = null;

  async function run(own: SimulatedProcess): Promise<void> {
    const core = await openCore(config, systemClock);
    const { signal } = new AbortController();
    const commands = await commandsOf(core, signal);
    await registered(core, wallet);
    const settings = async () => {
      const app = await findApp(core.reads, appId, core.clock.now());
      if (app === null) throw new Error('the app is not projected yet');
      return app;
    };
    const { relays } = relaysOf(core, commands);
    const cashback = cashbackOf(core, () => publicUrl);
    api = {
      async create(request) {
        return await commands.createPayment(request, await settings(), { keyless: false, cause: `key:${name}` });
      },
      choose: (paymentId, source) => commands.chooseSource(paymentId, source, { cause: 'payer' }),
      relay: (paymentId, signed) =>
        relays.accept(paymentId, signed, { cause: 'payer' }, AbortSignal.timeout(answer_ms)),
      async relaySent(paymentId, chainId, transaction) {
        const signed = relays.read(chainId, transaction);
        if (!signed) throw new Error('the service reads no such transaction');
        return relays.accept(paymentId, signed, { cause: 'payer' }, AbortSignal.timeout(answer_ms));
      },
      payByCredit: (request) => cashback.pay(request, appId, { cause: 'payer' }),
      withdrawCashback: async (asked) => commands.withdrawCashback(await settings(), asked, { cause: `key:${name}` }),
      settle: (paid) => settle(core, paid),
      refund: (paymentId, asked) => refundsOf(core).order({ paymentId, appId: null }, asked, by),
      hold: (paymentId) => holdPayout(core, { paymentId, reason: 'looked at' }, by),
      retry: (paymentId) => retryPayout(core, { paymentId, reason: 'looked at' }, by),
      addAddress: (asked) => {
        const coolDown_hours = config.withdrawals.addressCoolDown_hours;
        return addToBook({ ...core, addresses: familyAddresses, coolDown_hours }, asked, by);
      },
      withdraw: (asked) => orderWithdrawal(withdrawals(core), asked, by, AbortSignal.timeout(answer_ms)),
      approve: (id) => approve(core, id, approver),
      callOffOperation: (id) => callOff(core, id, 'called off', by),
      move: (asked) => move(core, asked),
      approveMove: (id) =>
        core.handle(rebalance, id, (state) => approveRebalance(state, 'second', core.clock.now()), moving(approver)),
      cancelMove(id) {
        const cancelled = { reason: 'called off', by: 'simulated', now: core.clock.now() };
        return core.handle(rebalance, id, (state) => callOffRebalance(state, cancelled), moving(by));
      },
      arrived(id, hash) {
        const historyOf = (chainId: ChainId) => core.chains.get(chainId)?.history;
        return recordArrival({ ...core, historyOf }, { id, hash }, by, AbortSignal.timeout(answer_ms));
      },
      callOffRefund: (key) => callOffRefund(core, { key, reason: 'called off' }, by),
      matchUnmatched: (id, paymentId) => matchUnmatched(core, id, paymentId, by),
      refundUnmatched: (id, asked) => {
        const sending = {
          addresses: familyAddresses,
          canReceive: core.receiverChecks,
          payoutCostOf: payoutCostsOf(core),
        };
        return refundUnmatched({ ...core, ...sending }, id, asked, by);
      },
    };
    theRun().note(`${own.name} is up`);
    await Promise.all([
      core.clockWatch.run(signal),
      guardNodes(core, signal),
      runProjectionsRole(core, signal),
      runSubscribersRole(core, signal),
    ]);
  }

  return {
    api: () => (process?.alive && api ? { process, api } : null),
    end() {
      if (process) endProcess(process);
    },
    has: (other) => other === process,
    start() {
      starts += 1;
      const own: SimulatedProcess = { name: `${name}.${starts}`, alive: true, onEnd: new Set() };
      process = own;
      api = null;
      runIn(own, () => {
        run(own).catch((error: unknown) => {
          if (!own.alive) return;
          theRun().note(`${own.name} ends: ${String(error)}`);
          endProcess(own);
          theRun().crashed(own, 'start');
        });
      });
    },
  };
}

const reason = 'the log was restored';
const answer_ms = 15_000;

/**
 * As `npm run payouts -- hold`, `npm run treasury -- explain` and `resume` do. A payout that is not owed yet cannot be
 * held: then all wait.
 */
async function settle({ handle, clock, chains }: Core, paid: readonly string[]): Promise<void> {
  const deps = { handle, clock };
  for (const paymentId of paid) if (isRefusal(await holdPayout(deps, { paymentId, reason }, by))) return;
  for (const { rail } of chains.values()) {
    const signal = AbortSignal.timeout(answer_ms);
    for (const { account, minedNonce } of await readNumberingAccounts(rail, signal))
      await explainNoncesOf(deps, { chainId: rail.chainId, account }, { minedNonce, reason }, by);
    await resumePayouts(deps, rail, by);
  }
}

const moving = (who: By) => ({ ...who, appId: null });

function move({ handle, clock, config, chains }: Core, asked: AskedMove): Promise<MoveOrdered | Refusal> {
  const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsdDecimals);
  const deps = {
    ...{ handle, clock, attestations: createAttestations({ url: config.attestationsUrl ?? '', clock }) },
    accountOn: (chainId: ChainId) => chains.get(chainId)?.rail.account,
    oftOn: (chainId: ChainId) => chains.get(chainId)?.oftMessages,
    approval_microUsd: inMicroUsd(config.withdrawals.approval_usd),
    perTransfer_microUsd: inMicroUsd(config.signer.perTransfer_usd),
  };
  return orderMove(deps, asked, by, AbortSignal.timeout(answer_ms));
}

/** The merchant's app, created by the first process. */
async function registered({ merchants }: Core, wallet: Settlement | null): Promise<void> {
  await merchants.register(appId, { webhookUrl }, by);
  if (wallet === null) return;
  const set = await merchants.setSettlement(appId, wallet as SettlementRequest, by);
  if (isRefusal(set)) throw new Error(`the wallet is refused: ${set.message}`);
}
