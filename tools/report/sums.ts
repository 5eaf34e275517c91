/** Sums of decimal texts, exactly. */

const scale = 30;

const scaled = (text: string): bigint => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,30}))?$/.exec(text) ?? [];
  if (whole === '') throw new Error(`${text} is no decimal number`);
  return BigInt(`${sign}${whole}${fraction.padEnd(scale, '0')}`);
};

/** Without trailing zeros; `0` of nothing. */
export function sumOf(texts: readonly string[]): string {
  const sum = texts.reduce((total, text) => total + scaled(text), 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** To so many places, all of them printed; halves away from zero. */
export function roundedTo(text: string, places: number): string {
  const unit = 10n ** BigInt(scale - places);
  const value = scaled(text);
  const size = value < 0n ? -value : value;
  const digits = ((size + unit / 2n) / unit).toString().padStart(places + 1, '0');
  const sign = value < 0n && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
