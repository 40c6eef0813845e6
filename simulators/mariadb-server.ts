/** A real MariaDB server on loopback for tests: the conformance kit's, with TLS. */
import {
  type MariadbServer as InstalledServer,
  startInstalledMariadb,
} from "../conformance/target/mariadb-server.ts";
import { createCertificateAuthority } from "./certificates.ts";

export { findMariadb } from "../conformance/target/mariadb-server.ts";

export interface MariadbServer extends InstalledServer {
  /**
   * PEM of the authority that issued the server's certificate: valid for `db.example.test`,
   * `localhost` and 127.0.0.1.
   */
  readonly caPem: string;
}

export interface MariadbServerOptions {
  /** Settings of the server, by the names of its options. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** @throws Error that says so when no MariaDB server is installed, or when it does not start. */
export async function startMariadb({
  settings = {},
}: MariadbServerOptions = {}): Promise<MariadbServer> {
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue(["db.example.test", "localhost", "127.0.0.1"]);
  const server = await startInstalledMariadb({
    settings: (folder) => ({
      "ssl-cert": `${folder}/server.crt`,
      "ssl-key": `${folder}/server.key`,
      ...settings,
    }),
    files: { "server.crt": certificate.cert, "server.key": certificate.key },
  });
  return { ...server, caPem: authority.caPem };
}
