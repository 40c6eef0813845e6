import { type PublicConfig, secret, Type } from "svc-connectors";

export const spec = Type.Object({
  url: Type.String({
    title: "URL",
    description:
      "Where batches are sent: https, a public host, port 443, no query. Whoever knows it can be told by the signature.",
    examples: ["https://hooks.example.com/svc/rows"],
    maxLength: 2048,
  }),
  signing_secret: secret(
    Type.String({
      title: "Signing secret",
      description:
        "Base64 of 24 to 64 bytes, with or without whsec_ before it. Requests are signed as Standard Webhooks says.",
      minLength: 1,
    }),
  ),
});

export type Config = PublicConfig<typeof spec>;
