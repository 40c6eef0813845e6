/** An answer of the provider as manifests see it: its decoded bodies, and `response`, `headers`. */
import type { HttpResponse } from "../../contract/context.ts";
import { ConnectorError } from "../../contract/errors.ts";
import { parseExact } from "../../wire/exact-json.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { type PlainValue, valueAt } from "../expressions/values.ts";
import { compileCsv } from "./csv.ts";
import { parseXml } from "./xml.ts";

/** The bodies of an answer: one of a document, one a line or row of others. */
export type Decode = (answer: HttpResponse) => PlainValue[];

const decoders = [
  ...(["JsonDecoder", "JsonlDecoder", "IterableDecoder", "CsvDecoder"] as const),
  ...(["GzipDecoder", "ZipfileDecoder", "JsonItemsDecoder", "XmlDecoder"] as const),
] as const;

export function compileDecoder(owner: Component, name = "decoder"): Decode {
  const decoder = owner.child(name, ...decoders);
  switch (decoder?.type) {
    case "JsonlDecoder":
      return (answer) => linesOf(answer).map(parseLine);
    case "IterableDecoder":
      return (answer) => linesOf(answer).map((line) => ({ record: line }));
    case "CsvDecoder":
      return compileCsv(decoder);
    case "GzipDecoder":
      // The host has unpacked it: what it cannot read it cannot search for secrets.
      return compileDecoder(decoder);
    case "ZipfileDecoder": {
      const decode = compileDecoder(decoder);
      return (answer) => filesOf(answer).flatMap((text) => decode(fileAnswer(answer, text)));
    }
    case "XmlDecoder":
      return (answer) => [parseXml(answer.text())];
    case "JsonItemsDecoder":
      return compileItems(decoder);
    default:
      return (answer) => {
        const isNothing = answer.text() === "" && answer.status !== 200;
        const made = isNothing ? {} : answer.json<PlainValue>();
        return Array.isArray(made) ? [...made] : [made];
      };
  }
}

/** The host has unpacked an archive, as a list of its files. */
function filesOf(answer: HttpResponse): string[] {
  const files = answer.json<PlainValue>();
  if (Array.isArray(files) && files.every((file) => typeof file === "string")) return files;
  throw new ConnectorError("RESPONSE_INVALID", { reason: "it is no ZIP archive" });
}

/** A file of an archive, as if it had come alone. */
const fileAnswer = (answer: HttpResponse, text: string): HttpResponse => ({
  ...answer,
  text: () => text,
  json<T>(): T {
    try {
      return parseExact(text) as T;
    } catch {
      throw new ConnectorError("RESPONSE_INVALID", { reason: "a file of it is not JSON" });
    }
  },
});

/** Each item of a list within the document, which is named as "data.users". */
function compileItems(decoder: Component): Decode {
  const path = decoder.get("items_path");
  if (typeof path !== "string" || path === "")
    throw invalid(decoder.at("items_path"), "is missing");
  return (answer) => {
    const found = valueAt(answer.json<PlainValue>(), path.split("."));
    return Array.isArray(found) ? [...found] : [];
  };
}

const linesOf = (answer: HttpResponse) =>
  answer
    .text()
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");

function parseLine(line: string): PlainValue {
  try {
    return JSON.parse(line) as PlainValue;
  } catch {
    throw new ConnectorError("RESPONSE_INVALID", { reason: "a line of it is not JSON" });
  }
}

/** `response` and `headers` for expressions. */
export function scopeOf(answer: HttpResponse, bodies: readonly PlainValue[]): Scope {
  return { response: bodies[0] ?? {}, headers: headersOf(answer.headers) };
}

/** The same of an answer that may be no document at all: an error's. */
export function scopeOfError(answer: HttpResponse): Scope {
  let response: PlainValue = {};
  try {
    response = answer.json<PlainValue>();
  } catch {
    // a page of text tells a filter nothing
  }
  return { response, headers: headersOf(answer.headers) };
}

/** By each way in which people write their names; `link` is what the field means. */
function headersOf(headers: HttpResponse["headers"]): Scope {
  const made: Record<string, PlainValue> = {};
  for (const [name, value] of Object.entries(headers)) {
    made[name] = value;
    made[name.replace(/(?<![a-z\d])[a-z]/g, (letter) => letter.toUpperCase())] = value;
  }
  made.link = linksOf(headers.link ?? "");
  return made;
}

/** RFC 8288: each link by its relation. */
function linksOf(text: string): Scope {
  const links: Record<string, PlainValue> = {};
  for (const [, url = "", rest = ""] of text.matchAll(/<([^<>]{0,4000})>([^<]{0,1000})/g)) {
    const parameters = [...rest.matchAll(/;\s*([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/g)];
    const link = Object.fromEntries(
      parameters.map(([, name = "", quoted, plain]) => [name, quoted ?? plain ?? ""]),
    );
    links[link.rel ?? url] = { url, ...link };
  }
  return links;
}

const inExpression =
  /\bheaders(?:\.get\(\s*|\[\s*)(?:'([\w-]+)'|"([\w-]+)")|\bheaders\.([a-z]\w*)\b/gi;

/** Fields of answers that a manifest asks for, wherever it does. */
export function headerNamesOf(document: unknown): string[] {
  const names = new Set<string>();
  const visit = (value: unknown) => {
    if (typeof value === "string")
      for (const [, single, double, plain] of value.matchAll(inExpression))
        names.add(String(single ?? double ?? plain).toLowerCase());
    else if (typeof value === "object" && value !== null) {
      const { type, header } = value as { type?: unknown; header?: unknown };
      if (/^Wait(?:Until)?TimeFromHeader$/.test(String(type)) && typeof header === "string")
        names.add(header.toLowerCase());
      for (const part of Object.values(value)) visit(part);
    }
  };
  visit(document);
  return [...names]
    .filter((name) => /^[a-z\d_-]{1,100}$/.test(name) && name !== "get")
    .slice(0, 100);
}
