import type { StreamDescriptor } from "../contract/catalog.ts";
import type { LineFormat } from "../contract/sink.ts";

/** What every line of a stream's records begins with, as ASCII text: the worker writes it and the host checks it. */
export function linePrefix(stream: StreamDescriptor, format: LineFormat): string {
  if (format === "rows") return "{";
  const namespace = stream.namespace === undefined ? "" : `"namespace":${asciiJson(stream.namespace)},`;
  return `{"type":"RECORD","record":{"stream":${asciiJson(stream.name)},${namespace}"data":{`;
}

/** JSON text in which every character beyond ASCII is escaped, so that bytes and characters are the same. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
