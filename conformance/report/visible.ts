/**
 * Text as a reader may safely see it: control characters, text direction marks and lone surrogates
 * become visible signs. Evidence comes from providers and connectors that may be hostile; a report
 * must not let them paint over a terminal, hide text, or speak to a CI server.
 */

/**
 * Line ends and tabs stay; CRLF becomes LF. The result holds only characters that XML 1.0 and HTML
 * allow.
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(/[\0-\x08\x0b-\x1f]/g, (sign) => String.fromCodePoint(0x2400 + sign.charCodeAt(0)))
    .replaceAll("\x7f", "␡")
    .replace(
      /[\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]/g,
      escaped,
    )
    .replace(/[\u{e0000}-\u{e007f}]/gu, escaped);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visible(text)
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("\t", " ")
    .trim();
}

/**
 * Visible text for the log of a CI server, where `##[…]`, `##vso[…]` and `##teamcity[…]` are
 * commands wherever they stand. Commands that begin a line (`::error::`) are up to the caller:
 * nothing foreign may begin a line.
 *
 * @see https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands (read
 * 2026-11-21)
 */
export function visibleInLog(text: string): string {
  return visible(text).replace(/##(?=(?:vso|teamcity)?\[)/gi, "#\\#");
}

/** The same on one line. */
export function logLine(text: string): string {
  return visibleLine(visibleInLog(text));
}

function escaped(sign: string): string {
  return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}
