/** Recognises the texts of exceptions that nobody has thought of, as languages word them. */

const texts = [
  // JavaScript
  "cannot read propert",
  "cannot (?:destructure|convert undefined|set propert)",
  "is not (?:a function|a constructor|iterable)\\b",
  "of undefined \\(",
  "maximum call stack",
  "invalid (?:array|string) length",
  "unexpected (?:token\\b|end of JSON input|non-whitespace)",
  // Python
  "NoneType",
  "object is not (?:subscriptable|callable)",
  "expecting value: line \\d",
  "Traceback \\(",
  // Java, Go, Ruby
  "NullPointer",
  "panic:",
  "nil pointer dereference",
  "looking for beginning of value",
  "undefined method\\b",
  // An exception with its class, as its text or its representation; its class alone is no text.
  "\\b(?:Type|Key|Value|Attribute|Range|Syntax|Reference|Index|Lookup|Assertion|Runtime|JSONDecode|ZeroDivision|Unicode\\w+)(?:Error|Exception)\\b[:(]",
];

/** One of them, anywhere in a text. */
export const thrownText = new RegExp(texts.join("|"), "i");

const all = new RegExp(thrownText, "gi");

/** Where they stand in a text. */
export const thrownTextsIn = (text: string): readonly { index: number; length: number }[] =>
  [...text.matchAll(all)].map((match) => ({ index: match.index, length: match[0].length }));
