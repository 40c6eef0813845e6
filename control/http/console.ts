/**
 * The console: a page at `/` and its files. What it shows it asks the API for, with the rights of
 * who has signed in.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import files from "@fastify/static";
import type { FastifyInstance } from "fastify";
import type { Control } from "../door/control.ts";
import { addConsoleSession } from "./console-session.ts";

/** Where `npm run build` puts it, as seen from the sources and from what was built of them. */
const built = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts") ? "../../dist/console/" : "../../console/",
    import.meta.url,
  ),
);

/**
 * Nothing from elsewhere, no script or style that stands in the page, no text that becomes code, no
 * frame around it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const pageHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

/** The names of the others have a hash of what is in them. */
const assetHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

const notBuilt = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>svc</title></head>
  <body><p>The console has not been built in this checkout: <code>npm run build</code></p></body>
</html>
`;

/** @param folder of what was built; default: where the build puts it */
export function addConsole(
  server: FastifyInstance,
  control: Control,
  folder: string = built,
): void {
  addConsoleSession(server, control);
  const page = readPage(folder, "index");
  // Where providers send the browser back to.
  const pages = { "/": page, "/connected": readPage(folder, "connected") };
  for (const [path, text] of Object.entries(pages))
    server.get(path, (_request, reply) =>
      reply
        .headers(pageHeaders)
        .type("text/html; charset=utf-8")
        .send(text ?? notBuilt),
    );
  if (page === undefined) return;
  server.register(files, {
    root: `${folder}/assets`,
    prefix: "/assets/",
    decorateReply: false,
    wildcard: false,
    cacheControl: false,
    preCompressed: true,
    globIgnore: ["**/*.gz"],
    setHeaders: (reply) => void reply.headers(assetHeaders),
  });
}

function readPage(folder: string, name: string): string | undefined {
  const path = `${folder}/${name}.html`;
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
