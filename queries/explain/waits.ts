/** Why a transfer waits, and what an operator can do: one answer for each reason that there is. */
import { type WaitReason, waitReasons } from '../../domain/transfer/waiting.ts';

export interface WaitAnswer {
  readonly why: string;
  /** Null where it goes on by itself and nobody can hasten it. */
  readonly operator: string | null;
}

const byItself = 'it goes on by itself';

export const waitAnswers: Readonly<Record<WaitReason, WaitAnswer>> = {
  float: {
    why: 'The treasury holds too little of the token, beside what other transfers under way take.',
    operator: `Add tokens to the treasury's account: ${byItself} (npm run treasury).`,
  },
  gas: {
    why: "The treasury holds too little of the chain's coin for the fee, or the network asks for more than the configured maximum.",
    operator: `Add coin to the treasury's account, or wait until fees fall: ${byItself}.`,
  },
  refusedByToken: {
    why: 'The token, or the receiver, would refuse the transfer: it would fail on the chain, so it is not signed.',
    operator:
      'Find out why (a frozen or missing account, a paused token); npm run payouts -- bounce gives up a payout that can never be made, npm run refunds -- call-off a refund.',
  },
  treasuryBehindChain: {
    why: 'The chain shows transactions of the account that the log does not know: until they are explained nothing is signed, for it may have been paid already.',
    operator:
      'npm run treasury -- adopt <chain> lists them; find out who made them, for the key may be used elsewhere.',
  },
  fundingUnproven: {
    why: 'Right before it was to be signed, too few nodes showed the money that it is paid from.',
    operator: "Name nodes that know the payin's block; where none shows the money, find out how it came into the log.",
  },
  historyUnproven: {
    why: "Nodes do not show the treasury's whole history, so that it could have been paid already.",
    operator: 'Where it lasts, name another provider of nodes for the chain.',
  },
  formUnknown: {
    why: 'A transfer of this form is not made on this chain by this version.',
    operator: 'Call it off, or upgrade.',
  },
  owed: {
    why: 'It would take what payouts are owed.',
    operator: 'Top the treasury up, or call the withdrawal off.',
  },
  addressNotInBook: {
    why: 'Its receiver was taken out of the address book.',
    operator: 'Add the address again, or call the withdrawal off.',
  },
  chain: {
    why: 'The signer does not sign for this chain, or not for this contract.',
    operator: "Compare the signer's settings with the service's.",
  },
  account: {
    why: "The signer has another account than the transfer's.",
    operator: "Compare the signer's key with the service's TREASURY_ADDRESS settings.",
  },
  fee: {
    why: 'The fee of the transaction is above what the signer lets pass.',
    operator: `Wait until fees fall: ${byItself}; or raise the chain's maximum.`,
  },
  mismatch: {
    why: 'What was to be signed is not what was ordered: nothing was signed.',
    operator: 'Tell the developers: it is a fault of the program, or somebody tampers with it.',
  },
  perTransfer: {
    why: 'It is larger than one transfer may be (SIGNER_MAX_TRANSFER_USD).',
    operator: 'Raise the limit for a while, or pay it by hand (npm run payouts -- hold first).',
  },
  perHour: {
    why: 'All transfers of this hour together have reached their limit (SIGNER_MAX_HOUR_USD).',
    operator: `Nothing: ${byItself} when the hour has moved on. A limit that is reached often is too low, or somebody drains it.`,
  },
  appPerHour: {
    why: "The app's payouts of this hour have reached its share of the limit.",
    operator: `Nothing: ${byItself} when the hour has moved on.`,
  },
  coinPerHour: {
    why: "Fees of this hour have reached what may be spent of the chain's coin.",
    operator: `Nothing: ${byItself} when the hour has moved on; find out why so much coin is spent.`,
  },
  notOrdered: {
    why: 'The log, as the signer reads it, orders no such transfer.',
    operator: 'Find out whether the signer reads the same log; if it does, somebody asked for what was not ordered.',
  },
  signedBefore: {
    why: 'What the signer signed before for the same money could still land besides.',
    operator: 'Find that signature out (docs/signer.md): the log may have been set back.',
  },
  treasuryBusy: {
    why: 'The account has as many transactions under way as it may have.',
    operator: null,
  },
  treasuryPaused: {
    why: 'An operator has paused the treasury.',
    operator: 'npm run treasury -- resume.',
  },
  attemptsSpent: {
    why: 'A hundred attempts were signed, and none settled it.',
    operator: 'Find out why they died, then npm run payouts -- retry (or refunds -- retry) allows more.',
  },
};

export const isWaitReason = (text: string): text is WaitReason => (waitReasons as readonly string[]).includes(text);

/** Of a reason that another version noted, what it said itself. */
export const waitAnswer = (reason: string): WaitAnswer =>
  isWaitReason(reason)
    ? waitAnswers[reason]
    : { why: `It waits for a reason that this version does not know: ${reason}.`, operator: null };
