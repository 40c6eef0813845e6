/** Parts that the schemas of operations share. */
import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import { type IdKind, idPattern, maxIdLength } from "./ids.ts";

/**
 * An object without further properties. Its title is the name of its type in the OpenAPI document;
 * whatever several operations give or take has one.
 */
export const StrictObject = <P extends TProperties>(properties: P, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

export const Empty = StrictObject({});

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Enum<[...T]>([...values], { type: "string", ...options });

export const Id = (kind: IdKind, description?: string) =>
  Type.String({ pattern: idPattern(kind), ...(description ? { description } : {}) });

/** An id from a caller: whatever it is, it is looked up; one that does not exist is 404. */
export const IdInput = (description: string) =>
  Type.String({ minLength: 1, maxLength: maxIdLength, description });

export const Handle = Type.String({
  title: "CredentialHandle",
  pattern: "^ch_[0-9A-Za-z]{36}$",
  description: "Names a credential. It is no secret, and of no use without an access token.",
});

/** A place that is wrong: of a request, or of what was prepared. */
export const FieldError = StrictObject(
  {
    path: Type.String({ description: 'Dotted; "" is the whole.' }),
    reason: Type.String(),
    message: Type.String(),
  },
  { title: "FieldError" },
);

/** RFC 3339, UTC, milliseconds. */
export const Time = Type.String({ format: "date-time" });

/** A name that people give: one line. */
export const Name = Type.String({
  title: "Name",
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f]*$",
});

/** Free text on several lines. */
export const Text = (maxLength: number) => Type.String({ maxLength });

export const Version = Type.Integer({
  title: "Version",
  minimum: 1,
  description: "Rises by one with each change; also the ETag.",
});

/** Where a write takes place; needed when the token belongs to several workspaces. */
export const workspaceInput = {
  workspace_id: Type.Optional(
    Type.String({
      title: "WorkspaceChoice",
      minLength: 1,
      maxLength: maxIdLength,
      description: "The workspace; else the header, else the token's only one.",
    }),
  ),
};

/** Query parameters of every list. */
export const listQuery = {
  ...workspaceInput,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: "next_cursor of the page before, with the same filters, search and sort.",
    }),
  ),
};

/** Orders of a list by time. Lists are in the first one unless another is asked for. */
export const timeSorts = ["-created_at", "created_at"] as const;
/** Orders of a list of what has a name. */
export const nameSorts = [...timeSorts, "name", "-name"] as const;
export type Sort = (typeof nameSorts)[number];

/** Query parameters of lists whose items have a time and no name of their own. */
export const datedListQuery = {
  ...listQuery,
  sort: Type.Optional(
    OneOf(timeSorts, {
      default: "-created_at",
      description: "What the list is ordered by; a minus turns it round. Default: newest first.",
    }),
  ),
};

/** Query parameters of lists of what people have given a name. */
export const namedListQuery = {
  ...listQuery,
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "Part of the name, in any case." }),
  ),
  sort: Type.Optional(
    OneOf(nameSorts, {
      default: "-created_at",
      description:
        "What the list is ordered by; a minus turns it round. Names are ordered by their characters' codes, in any case. Default: newest first.",
    }),
  ),
};

/** Data of every list; the item has a title, by which documents call it and its list. */
export const List = <T extends TObject>(item: T) => {
  const { title } = item as { readonly title?: string };
  return StrictObject(
    {
      items: Type.Array(item),
      next_cursor: Nullable(Type.String({ description: "Of the next page; null: there is none." })),
      has_more: Type.Boolean(),
    },
    title === undefined ? {} : { title: `${title}List` },
  );
};
