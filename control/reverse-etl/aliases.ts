/** Names of this area are in camelCase; requests may have them in snake_case too. */
import { type Static, type TObject, type TOptional, type TProperties, Type } from "typebox";
import { refuseField } from "../contract/reasons.ts";
import { StrictObject, workspaceInput } from "../contract/schemas.ts";

type Optional<P extends TProperties> = { [Name in keyof P]: TOptional<P[Name]> };
type AliasedValues<P extends TProperties> = Partial<Static<TObject<P>>>;

const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Other names of a property: its snake_case, and those that are given. */
const aliasesOf = (name: string, more: Readonly<Record<string, readonly string[]>>): string[] =>
  [name, ...(more[name] ?? [])]
    .flatMap((one) => [one, toSnake(one)])
    .filter((one, index, all) => one !== name && all.indexOf(one) === index);

/** A body, or a part of one, whose properties may have either form. */
export function aliased<P extends TProperties>(
  properties: P,
  {
    more = {},
    isBody = true,
  }: {
    readonly more?: Readonly<Record<string, readonly string[]>> | undefined;
    readonly isBody?: boolean | undefined;
  } = {},
): TObject<Optional<P>> {
  const entries = Object.entries(properties).flatMap(([name, schema]) => [
    [name, Type.Optional(schema)] as const,
    ...aliasesOf(name, more).map(
      (alias) => [alias, Type.Optional({ ...schema, deprecated: true })] as const,
    ),
  ]);
  return StrictObject({
    ...(isBody ? workspaceInput : {}),
    ...Object.fromEntries(entries),
  }) as unknown as TObject<Optional<P>>;
}

/**
 * The values under their own names.
 * @throws duplicate_field when a value stands under two of its names
 */
export function unaliased<P extends TProperties>(
  properties: P,
  body: object,
  more: Readonly<Record<string, readonly string[]>> = {},
): AliasedValues<P> {
  const given = new Map(Object.entries(body));
  const values = Object.keys(properties).flatMap((name) => {
    const [first, second] = [name, ...aliasesOf(name, more)].filter((one) => given.has(one));
    if (second !== undefined)
      throw refuseField("duplicate_field", second, `is the same as ${first}`);
    return first === undefined ? [] : [[name, given.get(first)] as const];
  });
  return Object.fromEntries(values) as AliasedValues<P>;
}

/** @throws validation_failed when one of them is missing */
export function requireFields<V extends object, Name extends keyof V & string>(
  values: V,
  names: readonly Name[],
): asserts values is V & { readonly [Key in Name]-?: Exclude<V[Key], undefined> } {
  for (const name of names)
    if (values[name] === undefined) throw refuseField("validation_failed", name, "is missing");
}
