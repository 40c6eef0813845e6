/**
 * A store that speaks S3: moto, which pip fetches, in a process of its own over TLS. It knows the
 * users that it is told of, and proves each signature.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { type JsonObject, type NetworkSeams, systemClock } from "svc-connectors/host";
import s3 from "../connectors/destinations/s3/index.ts";
import type { ObjectStore } from "../runtime/contract/object-store.ts";
import { createS3Client } from "../runtime/egress/s3-client.ts";
import { createS3Store } from "../runtime/egress/s3-store.ts";
import { createCertificateAuthority } from "../simulators/certificates.ts";
import { installPythonPackages } from "./python-packages.ts";

export const s3Host = "s3.example.com";
const publicAddress = "93.184.215.14";

/** Prints its port, and the key of a user who may do everything in buckets; then it serves. */
const program = `
import json, ssl, sys, threading
import boto3
from moto import settings
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

app = DomainDispatcherApplication(create_backend_app)
plain = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=plain.serve_forever, daemon=True).start()
own = dict(endpoint_url=f"http://127.0.0.1:{plain.server_port}", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
iam = boto3.client("iam", **own)
iam.create_user(UserName="svc")
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="svc", PolicyName="all", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="svc")["AccessKey"]
boto3.client("s3", **own).create_bucket(Bucket="acme-lake")
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = make_server("127.0.0.1", 0, app, threaded=True, ssl_context=context)
print(json.dumps({"port": server.server_port, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)
server.serve_forever()
`;

export interface S3Server extends AsyncDisposable {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly seams: NetworkSeams;
  /** As the host opens it for a destination, below a prefix. */
  store(prefix: string, settings?: JsonObject): ObjectStore & AsyncDisposable;
  /** How the store has encrypted an object: the kind and the key. */
  encryptionOf(prefix: string, path: string): Promise<readonly unknown[]>;
}

/** Starts the server; the text says what it lacks, when it cannot be had here. */
export async function startS3(folder: string): Promise<S3Server | string> {
  const installed = await installPythonPackages();
  if ("lack" in installed) return installed.lack;
  const authority = await createCertificateAuthority();
  const { key, cert } = await authority.issue([s3Host]);
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  await writeFile(join(folder, "server.py"), program);
  const python = join(installed.bin, "python");
  const child = spawn(python, [join(folder, "server.py"), files.cert, files.key], {
    stdio: ["ignore", "pipe", "ignore"],
    // Buckets are paths, whatever the host is called.
    env: { PATH: process.env.PATH ?? "", HOME: folder, S3_IGNORE_SUBDOMAIN_BUCKETNAME: "true" },
  });
  const ended = once(child, "close");
  let said = "";
  child.stdout.setEncoding("utf8");
  const ready = async () => {
    while (!said.includes("\n")) said += String((await once(child.stdout, "data"))[0]);
    return true;
  };
  if (!(await Promise.race([ready(), ended.then(() => false)]))) return "moto does not start";
  const { port, id, secret } = JSON.parse(said) as { port: number; id: string; secret: string };
  const bucket = "acme-lake";
  const seams: NetworkSeams = {
    ca: authority.caPem,
    resolve: async (host) => (host === s3Host ? [{ address: publicAddress, family: 4 }] : []),
    dial: () => connect({ port, host: "127.0.0.1", noDelay: true }),
  };
  const optionsFor = (prefix: string, settings: JsonObject = {}) => ({
    declaration: s3.egress,
    config: {
      bucket,
      prefix,
      region: "us-east-1",
      endpoint: `https://${s3Host}`,
      access_key_id: id,
      secret_access_key: secret,
      ...settings,
    },
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: [] },
    seams,
    signal: new AbortController().signal,
  });
  return {
    bucket,
    accessKeyId: id,
    secretAccessKey: secret,
    seams,
    store: (prefix, settings) => createS3Store(optionsFor(prefix, settings)),
    async encryptionOf(prefix, path) {
      await using client = createS3Client(optionsFor(prefix));
      const { headers } = await client.call({ method: "GET", path });
      const name = "x-amz-server-side-encryption";
      return [headers[name], headers[`${name}-aws-kms-key-id`]];
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
