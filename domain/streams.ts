/** All stream categories: decider, event schemas, schema version and upcasters. The only such list. */
import { payoutBatch, payoutBatchEventSchemas, payoutBatchSchemaVersion } from './batch/batch.ts';
import { cashback, cashbackEventSchemas, cashbackSchemaVersion } from './cashback.ts';
import { credit, creditEventSchemas, creditSchemaVersion } from './credit.ts';
import { heads, headsEventSchemas, headsSchemaVersion } from './heads/heads.ts';
import { link, linkEventSchemas, linkSchemaVersion } from './link.ts';
import { merchantEventSchemas, merchantSchemaVersion, merchantUpcasters } from './merchant/events.ts';
import { merchant } from './merchant/state.ts';
import { paymentEventSchemas, paymentSchemaVersion } from './payment/events.ts';
import { paymentDecider } from './payment/state.ts';
import { rebalanceEventSchemas, rebalanceSchemaVersion } from './rebalance/events.ts';
import { floatPlan, floatPlanEventSchemas, floatPlanSchemaVersion } from './rebalance/floatPlan.ts';
import { rebalance } from './rebalance/rebalance.ts';
import { relayEventSchemas, relaySchemaVersion } from './relay/events.ts';
import { relayGas, relayGasEventSchemas, relayGasSchemaVersion } from './relay/gas.ts';
import { relay } from './relay/relay.ts';
import { sealing, sealingEventSchemas, sealingSchemaVersion } from './sealing.ts';
import {
  fundingUse,
  fundingUseEventSchemas,
  fundingUseSchemaVersion,
  moneyUse,
  moneyUseEventSchemas,
  moneyUseSchemaVersion,
} from './signing/moneyUse.ts';
import {
  signature,
  signatureEventSchemas,
  signatureSchemaVersion,
  signingHour,
  signingHourEventSchemas,
  signingHourSchemaVersion,
} from './signing/signature.ts';
import { addressBook, addressBookEventSchemas, addressBookSchemaVersion } from './treasury/addressBook.ts';
import { allowance, allowanceEventSchemas, allowanceSchemaVersion } from './treasury/allowance.ts';
import { books, booksEventSchemas, booksSchemaVersion } from './treasury/booksState.ts';
import { treasuryEventSchemas, treasurySchemaVersion } from './treasury/events.ts';
import { operation, operationEventSchemas, operationSchemaVersion } from './treasury/operation.ts';
import { treasury } from './treasury/state.ts';
import { unmatched, unmatchedEventSchemas, unmatchedSchemaVersion } from './unmatched.ts';
import {
  webhook,
  webhookEventSchemas,
  webhookSchemaVersion,
  webhookTypes,
  webhookTypesEventSchemas,
  webhookTypesSchemaVersion,
  webhookUpcasters,
} from './webhook.ts';

export const streams = {
  payment: { decider: paymentDecider, schemas: paymentEventSchemas, version: paymentSchemaVersion },
  payoutBatch: { decider: payoutBatch, schemas: payoutBatchEventSchemas, version: payoutBatchSchemaVersion },
  treasury: { decider: treasury, schemas: treasuryEventSchemas, version: treasurySchemaVersion },
  operation: { decider: operation, schemas: operationEventSchemas, version: operationSchemaVersion },
  relay: { decider: relay, schemas: relayEventSchemas, version: relaySchemaVersion },
  relayGas: { decider: relayGas, schemas: relayGasEventSchemas, version: relayGasSchemaVersion },
  rebalance: { decider: rebalance, schemas: rebalanceEventSchemas, version: rebalanceSchemaVersion },
  floatPlan: { decider: floatPlan, schemas: floatPlanEventSchemas, version: floatPlanSchemaVersion },
  books: { decider: books, schemas: booksEventSchemas, version: booksSchemaVersion },
  addressBook: { decider: addressBook, schemas: addressBookEventSchemas, version: addressBookSchemaVersion },
  allowance: { decider: allowance, schemas: allowanceEventSchemas, version: allowanceSchemaVersion },
  merchant: {
    decider: merchant,
    schemas: merchantEventSchemas,
    version: merchantSchemaVersion,
    upcasters: merchantUpcasters,
  },
  webhook: {
    decider: webhook,
    schemas: webhookEventSchemas,
    version: webhookSchemaVersion,
    upcasters: webhookUpcasters,
  },
  unmatched: { decider: unmatched, schemas: unmatchedEventSchemas, version: unmatchedSchemaVersion },
  webhookTypes: { decider: webhookTypes, schemas: webhookTypesEventSchemas, version: webhookTypesSchemaVersion },
  sealing: { decider: sealing, schemas: sealingEventSchemas, version: sealingSchemaVersion },
  heads: { decider: heads, schemas: headsEventSchemas, version: headsSchemaVersion },
  credit: { decider: credit, schemas: creditEventSchemas, version: creditSchemaVersion },
  cashback: { decider: cashback, schemas: cashbackEventSchemas, version: cashbackSchemaVersion },
  link: { decider: link, schemas: linkEventSchemas, version: linkSchemaVersion },
  signature: { decider: signature, schemas: signatureEventSchemas, version: signatureSchemaVersion },
  fundingUse: { decider: fundingUse, schemas: fundingUseEventSchemas, version: fundingUseSchemaVersion },
  moneyUse: { decider: moneyUse, schemas: moneyUseEventSchemas, version: moneyUseSchemaVersion },
  signingHour: { decider: signingHour, schemas: signingHourEventSchemas, version: signingHourSchemaVersion },
} as const;

export type Category = keyof typeof streams;
export const categories = Object.keys(streams) as readonly Category[];
