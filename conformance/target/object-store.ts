/**
 * A store that speaks S3 for the kit: moto, a package of Python, on loopback. It knows two users,
 * and proves each signature.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface StoreKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface ObjectStoreServer extends AsyncDisposable {
  /** Where it listens on loopback, without TLS. */
  readonly port: number;
  readonly bucket: string;
  /** Of a user who may do everything in buckets. */
  readonly writer: StoreKey;
  /** Of one who may list and read. */
  readonly reader: StoreKey;
}

/** Where it cannot be started: what to install. */
export interface NoObjectStore {
  readonly missing: string;
}

const packages = ["moto[s3,iam]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];
const bucket = "svc-conformance";

/** Argument: the writer's secret, or nothing for one of its own. Ends with its standard input. */
const program = `
import json, os, sys, threading
import boto3
from moto import settings
from moto.core import DEFAULT_ACCOUNT_ID
from moto.iam.models import iam_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

bucket, secret = sys.argv[1:]
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
own = dict(endpoint_url=f"http://127.0.0.1:{server.server_port}", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
threading.Thread(target=server.serve_forever, daemon=True).start()
iam = boto3.client("iam", **own)
boto3.client("s3", **own).create_bucket(Bucket=bucket)
def user(name, actions, secret=""):
    iam.create_user(UserName=name)
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    kept = iam_backends[DEFAULT_ACCOUNT_ID]["aws"].access_keys[key["AccessKeyId"]]
    if secret:
        kept.secret_access_key = secret
    return {"accessKeyId": kept.access_key_id, "secretAccessKey": kept.secret_access_key}
told = {"port": server.server_port, "writer": user("writer", "s3:*", secret), "reader": user("reader", ["s3:List*", "s3:Get*"])}
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
print(json.dumps(told), flush=True)
sys.stdin.read()
os._exit(0)
`;

/**
 * @param secret the writer's; default: the server makes it up
 * @param python with the packages; default: see {@link findPython}
 */
export async function startObjectStore({
  secret = "",
  python,
}: {
  readonly secret?: string;
  readonly python?: string | undefined;
} = {}): Promise<ObjectStoreServer | NoObjectStore> {
  const found = python ?? (await findPython());
  if (found === undefined)
    return {
      missing: `there is no store of objects (S3) to write to: the kit starts moto, for which python3 and pip have to be there (or install it: python3 -m pip install ${packages.map((one) => `"${one}"`).join(" ")})`,
    };
  const child = spawn(found, ["-c", program, bucket, secret], {
    // It ends when nobody holds its input any more, however this process has ended.
    stdio: ["pipe", "pipe", "ignore"],
    // Buckets are paths, whatever the host is called.
    env: { PATH: process.env.PATH ?? "", S3_IGNORE_SUBDOMAIN_BUCKETNAME: "true" },
  });
  const ended = once(child, "close");
  let said = "";
  child.stdout.setEncoding("utf8");
  const ready = async () => {
    while (!said.includes("\n")) said += String((await once(child.stdout, "data"))[0]);
    return true;
  };
  if (!(await Promise.race([ready(), ended.then(() => false)])))
    return { missing: `moto does not start with ${found}` };
  const started = JSON.parse(said) as Pick<ObjectStoreServer, "port" | "writer" | "reader">;
  return {
    ...started,
    bucket,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const run = promisify(execFile);

/** Fails where moto is missing, or older than 5.2.5: those do not take the users' own secrets. */
const isThere = `
import flask_cors, moto
assert tuple(int(part) for part in moto.__version__.split(".")[:3]) >= (5, 2, 5)
`;

/**
 * A Python that has moto: that of SVC_MOTO_PYTHON, else python3, else one of the user's cache, into
 * which it is fetched. Undefined: there is none.
 */
async function findPython(): Promise<string | undefined> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const parent = join(cache, "svc-connectors");
  const kept = join(parent, "moto-5.2.5");
  const own = join(kept, "bin", "python");
  const candidates = [process.env.SVC_MOTO_PYTHON || "python3", own];
  for (const python of candidates)
    if (await run(python, ["-c", isThere]).then(isDone, isNot)) return python;
  try {
    await mkdir(parent, { recursive: true });
    const made = await mkdtemp(join(parent, "making-"));
    try {
      await run("python3", ["-m", "venv", made]);
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages];
      await run(join(made, "bin", "python"), pip, { timeout: 300_000 });
      // Another kit may have been quicker.
      await rename(made, kept).catch(() => undefined);
    } finally {
      await rm(made, { recursive: true, force: true });
    }
    return (await stat(own)).isFile() ? own : undefined;
  } catch {
    return undefined;
  }
}

const isDone = () => true;
const isNot = () => false;
