/**
 * Documents for everybody, without a token: `openapi.json`, and a page that shows it.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import files from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { createOpenApi } from "../openapi/document.ts";
import { docsPage, docsScript, docsStyle } from "./docs-page.ts";

/**
 * The page loads nothing from elsewhere, runs nothing that stands in it, and is shown in no frame.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const cacheHeaders = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/** The files of the folder that the page needs. */
const shown = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] as const;

/** A text that many ask for, compressed once. */
interface CompressedText {
  readonly text: string;
  readonly zipped: Buffer;
  /** Of the text, without quotes. */
  readonly etag: string;
}

const compress = (text: string): CompressedText => ({
  text,
  zipped: gzipSync(text),
  etag: createHash("sha256").update(text).digest("base64url").slice(0, 22),
});

/** Whether gzip is among the encodings of an Accept-Encoding header; `q=0` refuses it. */
const acceptsGzip = (header: string | string[] = ""): boolean =>
  String(header)
    .split(",")
    .some((one) => /^\s{0,9}gzip\s{0,9}(?:;\s{0,9}q=(?!0(?:\.0{0,3})?\s{0,9}$)|$)/i.test(one));

export function addDocuments(server: FastifyInstance, control: Control): void {
  const docs = `${basePath}/docs`;
  let made: CompressedText | undefined;
  server.get(`${basePath}/openapi.json`, (request, reply) => {
    made ??= compress(JSON.stringify(createOpenApi(control.operations)));
    const isZipped = acceptsGzip(request.headers["accept-encoding"]);
    // Two forms have two tags.
    const etag = isZipped ? `${made.etag}-gzip` : made.etag;
    reply.headers({ etag: `"${etag}"`, vary: "accept-encoding", ...cacheHeaders });
    if (request.headers["if-none-match"] === `"${etag}"`) return reply.code(304).send();
    reply.type("application/json; charset=utf-8");
    if (!isZipped) return reply.send(made.text);
    return reply.header("content-encoding", "gzip").send(made.zipped);
  });

  const page = (path: string, type: string, text: string) =>
    server.get(path, (_request, reply) =>
      reply
        .headers({
          "content-security-policy": contentSecurityPolicy,
          "referrer-policy": "no-referrer",
          ...cacheHeaders,
        })
        .type(`${type}; charset=utf-8`)
        .send(text),
    );
  page(docs, "text/html", docsPage);
  page(`${docs}/page.js`, "text/javascript", docsScript);
  page(`${docs}/page.css`, "text/css", docsStyle);
  server.register(files, {
    root: fileURLToPath(new URL("./swagger-ui/", import.meta.url)),
    serve: false,
    cacheControl: false,
  });
  for (const name of shown)
    server.get(`${docs}/${name}`, (_request, reply) => reply.headers(cacheHeaders).sendFile(name));
}
