/**
 * The form of a card, apart from the words: who lists connectors need not load a schema library.
 */
import { Type } from "typebox";
import { connectorCategories, connectorKinds, releaseStages } from "./card.ts";
import type { JsonObject } from "./json.ts";

const Id = Type.String({ pattern: "^conn_[a-z0-9_]{1,58}$" });
const Line = Type.String({ minLength: 1, maxLength: 120, pattern: "^[^\\r\\n|]+$" });

/** The form of `card.json`. */
export const cardSchema = Type.Object(
  {
    kind: Type.Enum([...connectorKinds]),
    /** As the command line calls it. */
    name: Type.String({ pattern: "^[a-z][a-z0-9-]{0,39}$" }),
    /** As its module says: permanent. */
    id: Id,
    /** The name that people read, as its module says. */
    title: Line,
    /** The things that it reads or takes, in a few words that go on after "Title: ". */
    summary: Line,
    category: Type.Enum([...connectorCategories]),
    stage: Type.Enum([...releaseStages]),
    /**
     * Ids of old saved configurations besides `source:<name>`. They are accepted and never given
     * out.
     */
    aliases: Type.Optional(Type.Array(Type.String({ pattern: "^source:[a-z0-9-]+$" }))),
    /** Ids of the connectors whose credentials it takes; default: its own. */
    credentialsOf: Type.Optional(Type.Array(Id, { minItems: 1 })),
    /** Where a user reads how to set it up, as its module says. */
    documentationUrl: Type.Optional(Type.String({ pattern: "^https://" })),
    /** Details that only the Control API needs. */
    control: Type.Optional(
      Type.Object(
        {
          /** Settings that a request for a source may name beside its configuration. */
          namedSettings: Type.Optional(Type.Array(Type.String())),
          /** Where its secrets are given; default `/credentials`. */
          credentialPath: Type.Optional(Type.String({ pattern: "^/" })),
          /** Where connecting an account in the browser starts. */
          oauthPath: Type.Optional(Type.String({ pattern: "^/" })),
          /** JSON Schema of what a saved source must have beyond the connector's own spec. */
          sourceRules: Type.Optional(Type.Unsafe<JsonObject>(Type.Object({}))),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
