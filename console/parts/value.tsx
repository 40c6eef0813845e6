/** Any value as one reads it: no braces, no quotes. */
import { Fragment } from "react";
import { wordsOf } from "../model/differences.ts";
import { count, spoken } from "../model/words.ts";

/** Most items of a list; who must see more asks the API. */
const shown = 200;

export function Value({ of: value }: { readonly of: unknown }) {
  if (value === null || value === undefined || value === "")
    return <span className="dim">nothing</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return <bdi className="text">{value}</bdi>;
  const words = wordsOf(value);
  if (words !== undefined)
    return words.length === 0 ? (
      <span className="dim">none</span>
    ) : (
      <>
        {words.slice(0, shown).map((one, index) => (
          <Fragment key={one}>
            {index === 0 ? "" : ", "}
            <bdi>{one}</bdi>
          </Fragment>
        ))}
        <More of={words.length} />
      </>
    );
  if (Array.isArray(value))
    return (
      <ul className="items">
        {value.slice(0, shown).map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: it is drawn once
          <li key={index}>
            <Value of={one} />
          </li>
        ))}
        <More of={value.length} />
      </ul>
    );
  const parts = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  const { name } = value as { readonly name?: unknown };
  return (
    <>
      {typeof name === "string" ? <bdi className="name">{name}</bdi> : null}
      {parts
        .filter(([key]) => typeof name !== "string" || key !== "name")
        .map(([key, one], index) => (
          <Fragment key={key}>
            {index === 0 && typeof name !== "string" ? "" : " · "}
            <span className="dim">{spoken(key)}</span> <Value of={one} />
          </Fragment>
        ))}
    </>
  );
}

const More = ({ of }: { readonly of: number }) =>
  of > shown ? <span className="dim"> and {count(of - shown)} more</span> : null;
