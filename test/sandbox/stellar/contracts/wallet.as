// A contract wallet: an address whose own code decides what it authorizes. Here: what one key signs.

import { Val, VOID, isBytes, publish, push, recall, remember, symbol, vec, verifyEd25519 } from "./soroban";

export function __constructor(owner: Val): Val {
  if (!isBytes(owner)) unreachable();
  remember("owner", owner);
  return VOID;
}

export function __check_auth(payload: Val, signature: Val, contexts: Val): Val {
  verifyEd25519(recall("owner"), payload, signature);
  return VOID;
}

/** Says something in the name of anybody, as any contract can. */
export function shout(topic: Val, data: Val): Val {
  publish(push(push(vec(), symbol("payment")), topic), data);
  return VOID;
}

export function a_name_longer_than_nine(): Val {
  return symbol("and_a_symbol_longer_than_nine");
}
