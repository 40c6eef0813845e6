/**
 * The frame of the HTML report: one page that loads nothing, and allows no style or script but its
 * own two.
 */
import { createHash } from "node:crypto";
import { script } from "./html-script.ts";
import { style } from "./html-style.ts";
import { type Markup, markup, trusted } from "./markup.ts";

/**
 * Even if foreign text got past the escaping, it could neither run nor send anything.
 *
 * @see https://www.w3.org/TR/CSP3/#framework-directive-source-list (hashes of inline style and
 * script)
 */
const policy = [
  "default-src 'none'",
  `style-src '${hashSource(style)}'`,
  `script-src '${hashSource(script)}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** A whole document with this title and body. */
export function htmlPage(title: string, body: Markup): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
${body}
<script>${trusted(script)}</script>
</body>
</html>
`.text;
}

function hashSource(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
