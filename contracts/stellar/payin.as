// The payin contract: a customer pays with a reference, the token goes straight to the treasury, and an event tells the
// service which payment it was for. It holds no money and has no owner; another treasury means another contract.

import {
  Val, VOID, call, contractError, isAddress, isI128, isPositive, isString, keepAlive, map, publish, push, put, recall,
  remember, requireAuth, symbol, vec,
} from "./soroban";

const AMOUNT_NOT_POSITIVE: u32 = 1;
/** About a week and a month of five-second ledgers. */
const ALIVE_AT_LEAST: u32 = 120_960;
const ALIVE_AGAIN: u32 = 518_400;

export function __constructor(destination: Val, token: Val): Val {
  if (!isAddress(destination) || !isAddress(token)) unreachable();
  remember("dest", destination);
  remember("token", token);
  return VOID;
}

/** Moves `amount` of the token from `sender`, who must have authorized just this, to the treasury. */
export function pay(sender: Val, amount: Val, memo: Val): Val {
  if (!isAddress(sender) || !isI128(amount) || !isString(memo)) unreachable();
  if (!isPositive(amount)) return contractError(AMOUNT_NOT_POSITIVE);
  requireAuth(sender);

  const treasury = recall("dest");
  call(recall("token"), symbol("transfer"), push(push(push(vec(), sender), treasury), amount));

  let data = put(map(), symbol("amount"), amount);
  data = put(data, symbol("destination"), treasury);
  data = put(data, symbol("from"), sender);
  data = put(data, symbol("memo"), memo);
  publish(push(push(vec(), symbol("payment")), sender), data);

  keepAlive(ALIVE_AT_LEAST, ALIVE_AGAIN);
  return VOID;
}

export function destination(): Val {
  return recall("dest");
}

export function token(): Val {
  return recall("token");
}
