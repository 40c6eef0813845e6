/** CSV: rows of texts by the names in the first line. */
import { ConnectorError } from "../../contract/errors.ts";
import type { Component } from "../document/component.ts";
import type { Decode } from "./answer.ts";

/** Texts that stand for nothing in files of other programs. */
const missing: ReadonlySet<string> = new Set([
  ...["#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"],
  ...["<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"],
]);

/** ResponseToFileExtractor: a whole file, in which empty cells are nothing. */
export function compileCsvFile(extractor: Component): Decode {
  const isKept = extractor.get("preserve_na_values") === true;
  return (answer) => {
    const [names = [], ...rows] = parseCsv(answer.text().replaceAll("\0", ""), ",");
    return rows.map((row) =>
      Object.fromEntries(
        names.map((name, index) => {
          const value = row[index] ?? "";
          return [name, value === "" || (!isKept && missing.has(value)) ? null : value];
        }),
      ),
    );
  };
}

export function compileCsv(decoder: Component): Decode {
  const delimiter = decoder.get("delimiter") ?? ",";
  const separator = delimiter === "\\t" ? "\t" : delimiter;
  const nothing = decoder.get("set_values_to_none") ?? [];
  if (typeof separator !== "string" || separator.length !== 1)
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: decoder.at("delimiter"),
      problem: "must be one character",
    });
  return (answer) => {
    const [names = [], ...rows] = parseCsv(answer.text(), separator);
    return rows.map((row) =>
      Object.fromEntries(
        names.map((name, index) => {
          const value = row[index];
          const isNothing = Array.isArray(nothing) && nothing.includes(value ?? "");
          return [name, value === undefined || isNothing ? null : value];
        }),
      ),
    );
  };
}

/** RFC 4180: quotes double themselves, and may hold separators and line ends. */
function parseCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let value = "";
  let isQuoted = false;
  const endRow = () => {
    if (row.length > 0 || value !== "") rows.push([...row, value]);
    row = [];
    value = "";
  };
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (isQuoted) {
      if (one !== '"') value += one;
      else if (text[at + 1] === '"') value += text[at++];
      else isQuoted = false;
    } else if (one === '"' && value === "") isQuoted = true;
    else if (one === separator) {
      row.push(value);
      value = "";
    } else if (one === "\n") endRow();
    else if (one !== "\r") value += one;
  }
  endRow();
  return rows;
}
