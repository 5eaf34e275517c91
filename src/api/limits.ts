/** Every limit that a caller can reach, for the OpenAPI document and docs/reference/limits.md. */

import { askingLimits, askingPlaces } from '../../commands/chainPorts.ts';
import { openLinksMax } from '../../commands/links.ts';
import { amountMax_usd } from '../../commands/paymentRequest.ts';
import { pictureMax_bytes } from '../../commands/ports.ts';
import { aboutMax } from '../../domain/credit.ts';
import { activeKeysMax, keysEverMax } from '../../domain/merchant/keys.ts';
import { embeddingSitesMax } from '../../domain/merchant/settings.ts';
import { changesMax } from '../../domain/merchant/state.ts';
import { teamMembersMax } from '../../domain/merchant/team.ts';
import { choicesMax } from '../../domain/payment/choose.ts';
import { lifetime_ms, lifetimeLeast_s, lifetimeMost_s } from '../../domain/payment/create.ts';
import {
  lineItemsMax,
  lineItemsMax_bytes,
  lineNameMax,
  metadataLevels,
  metadataMax_bytes,
} from '../../domain/payment/lineItems.ts';
import { registrationsMax } from '../../domain/payment/payins.ts';
import { refundAddressesMax } from '../../domain/payment/refundAddress.ts';
import { refundsMax } from '../../domain/payment/refundOrder.ts';
import { alternativesMax, anyAmountLimits } from '../../domain/payment/sources.ts';
import { noteLimits } from '../../domain/payment/tending.ts';
import { relaysPerPaymentMax } from '../../domain/relay/events.ts';
import { previewCharacters, redeliveriesMax } from '../../domain/webhook.ts';
import { foundMax, windowMax } from '../../queries/findPayments.ts';
import { codeLife_ms } from '../accounts/emails.ts';
import { triesMax } from '../accounts/passcodes.ts';
import { sessionIdle_ms, sessionLife_ms, sessionsMax } from '../accounts/sessions.ts';
import { bodyMax_bytes, errorsMax, fieldsMax, formMax_bytes } from './input.ts';
import { defaultLimits, keptRequestsMax } from './middleware.ts';
import { defaultListenerLimits, defaultPageListenerLimits } from './news.ts';
import { preparing } from './preparedPayments.ts';
import { defaultOpenLimits, defaultRates, shareOfLimit } from './rateLimits.ts';
import { defaultExportLimits } from './reports.ts';
import { pageMax, pageSize, waitMax_s } from './schemas/queries.ts';
import { defaultConnectionLimits, headersMax_bytes } from './server.ts';

const count = (value: number | bigint): string => value.toLocaleString('en-US');
const seconds = (duration_ms: number): string => `${duration_ms / 1_000} s`;
const perHour = ({ requestsMax }: { readonly requestsMax: number }): string => `${count(requestsMax)} an hour`;
const perMinute = ({ requestsMax }: { readonly requestsMax: number }): string => `${count(requestsMax)} a minute`;
const busy = '503 `unavailable`, Retry-After';
const limited = '429 `rateLimited`, Retry-After';
const { min, max } = anyAmountLimits;

/** Subject, limit, and the effect of exceeding it. */
/** Formatting numbers loads data of languages, which a start without the document does not need. */
const limits = (): readonly (readonly [what: string, limit: string, beyond: string])[] => [
  ['a request’s body', `${count(bodyMax_bytes)} bytes`, '413 `payloadTooLarge`'],
  ['a request’s headers together', `${count(headersMax_bytes)} bytes`, '431 `headersTooLarge`'],
  [
    'time until a request’s headers have arrived',
    seconds(defaultConnectionLimits.headersTimeout_ms),
    '408 `requestTimeout`',
  ],
  [
    'time until a whole request has arrived',
    seconds(defaultConnectionLimits.requestTimeout_ms),
    '408 `requestTimeout`',
  ],
  ['requests in progress, of one instance', count(defaultLimits.concurrentMax), busy],
  ['connections of one instance', count(defaultConnectionLimits.connectionsMax), 'closed'],
  ['connections of one address', count(defaultConnectionLimits.connectionsPerAddressMax), 'closed'],
  ['requests without a valid key, of one address', perMinute(defaultRates.address), limited],
  ['any limit of an address, of an IPv6 network', '1 for a /64, 4 for a /56, 8 for a /48', 'as above'],
  ['requests of one key', perMinute(defaultRates.key), limited],
  ['requests of one app’s keys', perMinute(defaultRates.app), limited],
  ['payments created without a key, of one address', perMinute(defaultRates.keylessCreation), limited],
  ['open payments without a key, of one address', count(defaultRates.keylessOpen.requestsMax), limited],
  ['open payments without a key, of one address for one app', count(shareOfLimit(defaultRates.keylessOpen)), limited],
  ['open payments of one app, with and without a key', count(defaultOpenLimits.openPerAppMax), limited],
  ['open payments of one app that were created without a key', count(defaultOpenLimits.keylessOpenPerAppMax), limited],
  ['open payments with reusable links, of one app', count(defaultRates.linkOpen.requestsMax), limited],
  [
    'open payments with reusable links, of one app from one address',
    count(shareOfLimit(defaultRates.linkOpen)),
    limited,
  ],
  ['reusable links of one app that are open', count(openLinksMax), '409 `conflict`'],
  ['sites that may show payment pages in a frame, of one app', count(embeddingSitesMax), '400 `invalidRequest`'],
  ['codes for sign-in or registration, requested from one address', perHour(defaultRates.signIn), limited],
  ['codes for one e-mail address', perHour(defaultRates.signInEmail), limited],
  [
    'codes for one e-mail address, requested from one address',
    `${count(shareOfLimit(defaultRates.signInEmail))} an hour`,
    limited,
  ],
  [
    'codes of six digits for one e-mail address',
    `${count(defaultRates.shortCodesEmail.requestsMax)} a day`,
    'eight digits',
  ],
  ['codes of six digits, of the installation', perHour(defaultRates.shortCodes), 'eight digits'],
  [
    'codes for a browser that signed in before (replaces the limits of an e-mail address)',
    perHour(defaultRates.signInKnown),
    limited,
  ],
  ['registrations from one address', perHour(defaultRates.registration), limited],
  ['members of an app with open invitations, besides the owner', `${teamMembersMax}`, '409 `conflict`'],
  ['invitations mailed to one address', `${count(defaultRates.invitation.requestsMax)} a day`, 'not mailed'],
  ['mails of one kind to an app’s owner', `${count(defaultRates.notice.requestsMax)} a day`, 'not mailed'],
  ['lifetime and tries of a code', `${codeLife_ms / 60_000} minutes, ${triesMax} times`, '400 `codeExpired`'],
  ['a session', `${sessionLife_ms / 3_600_000} hours, ${sessionIdle_ms / 3_600_000} without a request`, '401'],
  ['sessions of one person', count(sessionsMax), 'the one that was idle longest ends'],
  ['an app id whose registration is not confirmed', 'reserved for 1 hour', 'released'],
  ['waiting requests for events, of one app', count(defaultListenerLimits.perApp), limited],
  ['waiting requests for events, of one instance', count(defaultListenerLimits.perInstance), busy],
  [
    'open pages of one payment with live updates',
    count(defaultPageListenerLimits.perPayment),
    `${limited}; the page reloads its state every 5 s`,
  ],
  ['open pages with live updates, of one address', count(defaultPageListenerLimits.perAddress), `${limited}, the same`],
  [
    'open pages with live updates, of one instance',
    count(defaultPageListenerLimits.perInstance),
    '503 `unavailable`, the same',
  ],
  ['signatures of one contract wallet checked at a time', count(askingPlaces.perContract), busy],
  ['signatures of contract wallets checked at a time, of one instance', count(askingPlaces.perInstance), busy],
  [
    'the check of a contract wallet’s signature, on each node',
    `${count(askingLimits.gas)} gas, ${seconds(askingLimits.time_ms)}, ${count(askingLimits.answer_bytes)} bytes`,
    '`NOT_VALID_SIGN`; 503 `unavailable` if no node answers in time',
  ],
  ['`wait` of the feed', `0 to ${waitMax_s} s`, '400'],
  ['exports of one app at a time', count(defaultExportLimits.perApp), limited],
  ['exports of one instance at a time', count(defaultExportLimits.perInstance), busy],
  ['a form of the dashboard', `${count(formMax_bytes)} bytes, ${fieldsMax} fields`, '413, 400'],
  [
    'a picture that is sent for a logo',
    `${count(pictureMax_bytes)} bytes, 24 megapixels`,
    '413 `payloadTooLarge`, 400',
  ],
  ['`errors` of one answer', count(errorsMax), 'further errors are omitted'],
  ['`limit` of a list', `1 to ${pageMax}, default ${pageSize}`, '400'],
  ['payments that a search in the dashboard finds', count(foundMax), 'the page says so: type more'],
  ['payments that the dashboard sums up or sorts by amount', `the newest ${count(windowMax)}`, 'the page says so'],
  [
    'a payment’s note and tags',
    `${count(noteLimits.note_characters)} characters; ${noteLimits.tags} tags of ${noteLimits.tag_characters}`,
    '400 `invalidRequest`',
  ],
  ['changes of a payment’s note and tags', count(noteLimits.changes), '409 `conflict`'],
  ['`orderId`, `receiverMemo`', '128 characters; a memo on Stellar 28 bytes', '400'],
  ['`display.title`, `display.name`', '200 characters', '400'],
  ['`display.description`', '1,000 characters', '400'],
  ['`display.currency`', '3 to 8 letters', '400'],
  [
    '`display.lineItems`',
    `${lineItemsMax} lines, ${count(lineItemsMax_bytes.keyed)} bytes as JSON (${count(lineItemsMax_bytes.keyless)} without a key); a name has ${lineNameMax} characters`,
    '400',
  ],
  [
    '`metadata`',
    `${count(metadataMax_bytes.keyed)} bytes as JSON (${count(metadataMax_bytes.keyless)} without a key), ${metadataLevels} levels`,
    '400',
  ],
  ['an amount’s digits', '60 characters; decimals as both tokens have them', '400'],
  ['an amount', `${count(amountMax_usd)} USD`, '400'],
  ['the payout of one payment', '`SIGNER_MAX_TRANSFER_USD` of the installation (10,000 USD)', '400'],
  ['the minimum payout of one payment', '`PAYOUT_MIN_USD_<chainId>` (0.005 USD), and the cost of the payout', '400'],
  [
    'an `anyAmount` payment',
    `${formatted(min)} (more if payouts are expensive) to ${formatted(max)} of the token`,
    '`payment_bounced`; the money is held and can be refunded',
  ],
  ['a payment’s life, by its source chain’s clock', `${lifetime_ms / 3_600_000} hour`, '`payment_expired`'],
  ['`expiresInSeconds`, a shorter life', `${lifetimeLeast_s} to ${lifetimeMost_s}`, '400'],
  [
    'small payins of a chain that are confirmed early, together',
    '`EXPOSURE_USD_<chainId>` (10,000 USD, on Polygon 100,000)',
    'further payins are confirmed at the depth of large ones',
  ],
  ['alternative sources of one payment', count(alternativesMax), '400'],
  ['changes of the source of one payment', count(choicesMax), '409; the page stays as it is'],
  ['authorizations of one payment, one at a time', count(relaysPerPaymentMax), '402 or 409: an ordinary transfer pays'],
  [
    'gas of one payment that is paid for its payer',
    '`RELAY_MAX_USD` (1 USD), and `RELAY_ABOVE_FEE_USD` (0.01 USD) beyond the fee',
    '402 `gas_limit`, 409 `relayTooDear`',
  ],
  [
    'gas that is paid in an hour, for one payer, for one app, and for all',
    '`RELAY_PAYER_HOUR_USD` (2 USD), `RELAY_APP_HOUR_USD` (20 USD), `RELAY_HOUR_USD` (50 USD)',
    limited,
  ],
  ['payin transactions registered with one payment', count(registrationsMax), '409 `paymentNotUpdatable`'],
  ['refunds of one payment', count(refundsMax), '409 `conflict`'],
  ['changes of the refund address of one sender', count(refundAddressesMax), '409 `conflict`'],
  ['`about` of a cashback payment', `${aboutMax} characters`, '400'],
  ['POSTs of one webhook delivery', '1', 'no further POST'],
  ['redeliveries of one delivery', count(redeliveriesMax), '409 `deliveryNotRedeliverable`'],
  ['changes of one app’s settings', `${count(defaultRates.changes.requestsMax)} an hour`, limited],
  ['changes of one app’s settings in total', count(changesMax), '403 `forbidden`: ask the operator for another app'],
  ['active API keys of one app', count(activeKeysMax), '403 `forbidden`'],
  ['API keys of one app in total', count(keysEverMax), '403 `forbidden`: ask the operator for another app'],
  ['requests of payers’ wallets, of one address', perMinute(defaultRates.wallet), limited],
  ['requests of payers’ wallets, for one payment', perMinute(defaultRates.walletPayment), limited],
  [
    'transactions for payers’ wallets prepared or sent at a time, of one instance',
    `${preparing.running}, and ${preparing.waiting} that wait`,
    busy,
  ],
  [
    'authorizations for payers’ wallets prepared at a time, of one instance',
    `${preparing.running}, and ${preparing.waiting} that wait`,
    busy,
  ],
  ['redeliveries of one app', perMinute(defaultRates.redelivery), limited],
  [
    'API requests of one app that its developers can read',
    `the newest ${count(keptRequestsMax)}`,
    'older ones are deleted',
  ],
  ['test webhooks of one app', perMinute(defaultRates.webhookTest), limited],
  ['a webhook’s answer', '10 s, any 2xx', 'the delivery is `exhausted`'],
  ['a webhook’s timestamp', '5 minutes from the receiver’s clock', 'the receiver refuses it'],
  ['`responsePreview` of a delivery', `${previewCharacters} characters`, 'cut off'],
];

function formatted({ value, decimals }: { readonly value: bigint; readonly decimals: number }): string {
  return (Number(value) / 10 ** decimals).toLocaleString('en-US');
}

/** A table in Markdown. */
export const limitsTable = (): string =>
  [['subject', 'limit', 'above it'], ['---', '---', '---'], ...limits()]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
