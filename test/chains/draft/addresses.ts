export const canonicalAddress = (_chain: unknown, text: string): string | null => (text.startsWith('D') ? text : null);

export const canonicalTxHash = (text: string): string | null => text;
