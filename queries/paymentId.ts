const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids are found in any letter case. Undefined for a text that no payment can have as its id. */
export function paymentIdIn(text: string): string | undefined {
  const id = text.toLowerCase();
  return uuid.test(id) ? id : undefined;
}
