/** Refuses orders whose route loses money or leads out of the treasury: each protocol has its own tokens, contracts and fee limits. */
import { type Refusal, refuse } from '../decider.ts';
import {
  burnableOn,
  domainOf,
  feeLimit,
  inMessageUnits,
  isCctpChain,
  isWholeInMessages,
  routeContracts,
  travelTime_ms,
} from './cctp.ts';
import { type CctpOrdered, isCctp, type OftRoute, type RebalanceOrdered } from './events.ts';
import { feeUnitOn, isUsdt0Chain, messageFeeLimit, sendableOn, usdt0Route } from './usdt0.ts';

/** The signers check the same against their own configuration: see `src/chains/evm/signer` and `src/chains/stellar/signer`. */
export function objectionToRoute(order: RebalanceOrdered): Refusal | undefined {
  const { from, to, amount, route } = order;
  if (from.chainId === to.chainId) return wrong('a rebalance goes from one chain to another');
  if (BigInt(amount) === 0n) return wrong('the amount is 0');
  return isCctp(order) ? objectionToCctp(order) : objectionToUsdt0(order, route as OftRoute);
}

const wrong = (message: string): Refusal => refuse('invalidRequest', message);

/** @param tokenOn the one token that the protocol moves on a chain */
function objectionToTokens(
  ends: readonly RebalanceOrdered['from'][],
  tokenOn: typeof burnableOn,
  doing: string,
): Refusal | undefined {
  for (const { chainId, token } of ends) {
    const own = tokenOn(chainId);
    if (own?.address !== token.address || own.decimals !== token.decimals)
      return wrong(`${token.symbol} at ${token.address} is not the token that ${doing} on chain ${chainId}`);
  }
  return undefined;
}

function objectionToUsdt0({ from, to, amount }: RebalanceOrdered, route: OftRoute): Refusal | undefined {
  if (!isUsdt0Chain(from.chainId) || !isUsdt0Chain(to.chainId))
    return wrong(`USDT0 has no route from chain ${from.chainId} to ${to.chainId}: move the money by hand`);
  const other = objectionToTokens([from, to], sendableOn, 'USDT0 moves');
  if (other) return other;
  if (!isWholeInMessages(BigInt(amount), from.token))
    return wrong(`the amount of ${amount} has a seventh decimal, which USDT0 cannot move: use 6 decimals`);
  const fee = BigInt(route.messageFee);
  const own = usdt0Route(from.chainId, to.chainId, fee);
  const isOwn = (Object.keys(own) as (keyof typeof own)[]).every((name) => own[name] === route[name]);
  if (!isOwn) return wrong('the route names other contracts or endpoints than USDT0 has for these chains');
  const most = messageFeeLimit(from.chainId);
  return fee === 0n || fee > most
    ? wrong(`the message fee is ${fee} ${feeUnitOn(from.chainId)}, more than 0 and at most ${most} are allowed`)
    : undefined;
}

function objectionToCctp({ from, to, amount, route }: CctpOrdered): Refusal | undefined {
  if (!isCctpChain(from.chainId) || !isCctpChain(to.chainId))
    return wrong(`CCTP has no route from chain ${from.chainId} to ${to.chainId}: move the money by hand`);
  const other = objectionToTokens([from, to], burnableOn, 'CCTP burns');
  if (other) return other;
  const { messenger, transmitter, minter } = routeContracts(from.chainId, to.chainId);
  const isOwn =
    route.messenger === messenger &&
    route.transmitter === transmitter &&
    route.minter === minter &&
    route.sourceDomain === domainOf(from.chainId) &&
    route.destinationDomain === domainOf(to.chainId);
  if (!isOwn) return wrong('the route names other contracts or domains than CCTP has for these chains');
  if (travelTime_ms(from.chainId, route.finality) === undefined)
    return wrong(`chain ${from.chainId} has no fast burns: order it with standard finality`);
  for (const [name, value] of Object.entries({ amount, 'fee limit': route.feeMax }))
    if (!isWholeInMessages(BigInt(value), from.token))
      return wrong(`the ${name} of ${value} has a seventh decimal, which CCTP cannot move: use 6 decimals`);
  const [units, feeMax] = [
    inMessageUnits(BigInt(amount), from.token),
    inMessageUnits(BigInt(route.feeMax), from.token),
  ];
  return feeMax >= units || feeMax > feeLimit(units)
    ? wrong(`the fee limit is ${feeMax}, at most ${feeLimit(units)} is allowed for ${units}`)
    : undefined;
}
