/** Texts by which a stranger would control an operator's terminal, and a check for them. */

/**
 * Clears the screen, sets the window's title, returns to the line's start, begins a line, reverses its direction, and hides letters in
 * tags.
 */
export const hostile =
  'pay \u001b[2J\u001b]0;owned\u0007\u009b31m\rDone.\nNothing is wrong.\u2028\u2029 \u202egro.live\u2066\u200b\u200f\u061c\ufeff\u{e0041}\u{e007f}\u034f\u007f';

/** Invisible characters, except the tool's own line breaks. */
export const steering = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
