/**
 * Pages that people open without a token: `openapi.json`, a page that shows it, and the page on
 * which an invitation is accepted.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import files from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { acceptPath } from "../members/invitation-mail.ts";
import { createOpenApi } from "../openapi/document.ts";
import { acceptPage, acceptScript, acceptStyle } from "./accept-page.ts";
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

export function addDocuments(server: FastifyInstance, control: Control): void {
  const docs = `${basePath}/docs`;
  let made: { readonly text: string; readonly etag: string } | undefined;
  server.get(`${basePath}/openapi.json`, (request, reply) => {
    const text = made?.text ?? JSON.stringify(createOpenApi(control.operations));
    made ??= {
      text,
      etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
    };
    reply.headers({ etag: made.etag, ...cacheHeaders });
    if (request.headers["if-none-match"] === made.etag) return reply.code(304).send();
    return reply.type("application/json; charset=utf-8").send(text);
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
  page(acceptPath, "text/html", acceptPage);
  page(`${acceptPath}/page.js`, "text/javascript", acceptScript);
  page(`${acceptPath}/page.css`, "text/css", acceptStyle);
  server.register(files, {
    root: fileURLToPath(new URL("./swagger-ui/", import.meta.url)),
    serve: false,
    cacheControl: false,
  });
  for (const name of shown)
    server.get(`${docs}/${name}`, (_request, reply) => reply.headers(cacheHeaders).sendFile(name));
}
