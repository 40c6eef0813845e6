/** Against the examples of the vendor's own page. */
import { expect, test } from "vitest";
import { encodePart, signS3 } from "./s3-signature.ts";

const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const nowMs = Date.parse("2013-05-24T00:00:00Z");
const origin = "https://examplebucket.s3.amazonaws.com";

test.each([
  [
    "an object",
    { method: "GET", url: new URL(`${origin}/test.txt`), headers: { range: "bytes=0-9" } },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "a new object",
    {
      method: "PUT",
      url: new URL(`${origin}/${encodePart("test$file.text")}`),
      headers: {
        date: "Fri, 24 May 2013 00:00:00 GMT",
        "x-amz-storage-class": "REDUCED_REDUNDANCY",
      },
      body: Buffer.from("Welcome to Amazon S3."),
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a setting of the bucket, a query without a value",
    { method: "GET", url: new URL(`${origin}/?lifecycle`), headers: {} },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a listing",
    { method: "GET", url: new URL(`${origin}/?max-keys=2&prefix=J`), headers: {} },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])("%s is signed as the vendor's page says", (_, request, signature) => {
  expect(signS3(request, credentials, nowMs).authorization).toContain(`Signature=${signature}`);
});
