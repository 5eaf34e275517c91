/** The options of calls, in the names and rules of the network's nodes. */
import { commitments } from '../chain/commitments.ts';
import {
  firstOf,
  flag,
  lenient,
  list,
  oneOf,
  optional,
  type Reader,
  struct,
  text,
  u8,
  u64,
  usize,
  withDefault,
} from './params.ts';
import { programFilter } from './programFilters.ts';

const level = oneOf(...commitments);
/** Nodes treat an unknown level as a missing one if the level is one of several options. */
const commitment = lenient(level);
const minContextSlot = optional(u64);
const isSet = withDefault(flag, false);

/** A level alone: an unknown one is refused. */
export const commitmentConfig = struct('CommitmentConfig', { commitment: level });

export const contextConfig = struct('RpcContextConfig', { commitment, minContextSlot });

const accountEncodings = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'] as const;
export type AccountEncoding = (typeof accountEncodings)[number];

const dataSlice = optional(struct('UiDataSliceConfig', { offset: usize, length: usize }));
const accountFields = { encoding: optional(oneOf(...accountEncodings)), dataSlice, commitment, minContextSlot };
export const accountConfig = struct('RpcAccountInfoConfig', accountFields);
export const programConfig = struct('RpcProgramAccountsConfig', {
  filters: optional(list(programFilter)),
  ...accountFields,
  withContext: optional(flag),
});

export const signaturesConfig = struct('RpcSignaturesForAddressConfig', {
  before: optional(text),
  until: optional(text),
  limit: optional(usize),
  commitment,
  minContextSlot,
});

export const statusesConfig = struct('RpcSignatureStatusConfig', { searchTransactionHistory: flag });

const transactionEncodings = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const;
export type TransactionEncoding = (typeof transactionEncodings)[number];
const transactionEncoding = oneOf(...transactionEncodings);

const transactionFields = {
  encoding: optional(transactionEncoding),
  commitment,
  maxSupportedTransactionVersion: optional(u8),
};

/** The parameter may be an encoding alone. */
const encodingOr = <F extends { readonly encoding: TransactionEncoding | undefined }>(full: Reader<F>): Reader<F> =>
  firstOf(
    'RpcEncodingConfigWrapper',
    (value) => full(value === null ? {} : { encoding: transactionEncoding(value) }),
    full,
  );

export const transactionConfig = encodingOr(struct('RpcTransactionConfig', transactionFields));

export const blockConfig = encodingOr(
  struct('RpcBlockConfig', {
    ...transactionFields,
    transactionDetails: optional(oneOf('full', 'signatures', 'none', 'accounts')),
    rewards: optional(flag),
  }),
);

/** A last slot, or options instead. */
export const lastSlotOrConfig = firstOf<number | ReturnType<typeof contextConfig>>(
  'RpcBlocksConfigWrapper',
  u64,
  contextConfig,
);

export const sendConfig = struct('RpcSendTransactionConfig', {
  skipPreflight: isSet,
  preflightCommitment: optional(level),
  encoding: optional(transactionEncoding),
  maxRetries: optional(usize),
  minContextSlot,
});

export const simulateConfig = struct('RpcSimulateTransactionConfig', {
  sigVerify: isSet,
  replaceRecentBlockhash: isSet,
  encoding: optional(transactionEncoding),
  accounts: optional(
    struct('RpcSimulateTransactionAccountsConfig', {
      encoding: optional(oneOf(...accountEncodings)),
      addresses: list(text),
    }),
  ),
  commitment,
  minContextSlot,
  innerInstructions: isSet,
});

export const airdropConfig = struct('RpcRequestAirdropConfig', { recentBlockhash: optional(text), commitment });

export const signatureSubscribeConfig = struct('RpcSignatureSubscribeConfig', {
  commitment,
  enableReceivedNotification: optional(flag),
});

export const logsConfig = struct('RpcTransactionLogsConfig', { commitment });
