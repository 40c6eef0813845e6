/**
 * Other names of a request's fields: snake_case where a field is in camelCase, and those that a
 * field had once. They are taken, and nothing else in the service knows them.
 */
import type { TObject } from "typebox";
import { refuseField } from "../contract/reasons.ts";

/** Names that fields had once, with the ones that they have now. */
export type FormerNames = Readonly<Record<string, string>>;

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The names that a field is taken under besides its own. */
const othersOf = (name: string, former: FormerNames): string[] =>
  [name, ...Object.keys(former).filter((one) => former[one] === name)]
    .flatMap((one) => [one, toSnake(one)])
    .filter((one, index, all) => one !== name && all.indexOf(one) === index);

/** Gives the fields of a value the names that its schema has. */
export type Rename = (value: unknown) => void;

/** @throws, when it renames, duplicate_field: a field stands there under two of its names */
export function createRename(schema: TObject, former: FormerNames = {}): Rename {
  const renameIn = (shape: Shape, value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      const { items } = shape;
      if (items) for (const [index, one] of value.entries()) renameIn(items, one, [...path, index]);
    } else if (shape.properties) renameOwn(shape.properties, value as Fields, path);
    for (const choice of shape.anyOf ?? []) renameIn(choice, value, path);
  };
  const renameOwn = (
    properties: Readonly<Record<string, Shape>>,
    value: Fields,
    path: readonly (string | number)[],
  ) => {
    for (const [name, shape] of Object.entries(properties)) {
      for (const other of othersOf(name, former)) {
        if (other in properties || !Object.hasOwn(value, other)) continue;
        if (Object.hasOwn(value, name))
          throw refuseField(
            "duplicate_field",
            [...path, other].join("."),
            `is the same as ${name}`,
          );
        value[name] = value[other];
        delete value[other];
      }
      if (Object.hasOwn(value, name)) renameIn(shape, value[name], [...path, name]);
    }
  };
  return (value) => renameIn(schema as Shape, value, []);
}

type Fields = Record<string, unknown>;
