/**
 * The text without the characters of this kind at its end. An expression like `/0+$/` looks from
 * each of them for the end anew: a text of 40,000 zeros and a one takes seconds.
 * @param isOfEnd whether a character is of the kind
 */
export function withoutEnd(text: string, isOfEnd: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isOfEnd(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

export const isZero = (character: string): boolean => character === "0";
export const isSlash = (character: string): boolean => character === "/";
