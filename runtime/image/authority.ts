/**
 * A certificate authority of this process: made once, kept in memory, trusted only by the runs that
 * are given it. The proxy of images ends TLS with it, and so does the conformance kit.
 */
import type { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import type { X509Certificate } from "@peculiar/x509";

/** The flaw of a certificate, if it has one. */
export type CertificateFlaw = "none" | "expired" | "untrusted" | "wrong-host";

export interface Authority {
  /** PEM of the certificate that a client has to trust. */
  readonly caPem: string;
  /**
   * Key and certificate of a server with this name or IP address, ready for TLS. Made at the first
   * call for each.
   */
  contextFor(host: string, flaw?: CertificateFlaw): Promise<SecureContext>;
}

interface Issuer {
  readonly certificate: X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const dayMs = 86_400_000;
/** RFC 2606 section 2: no host has this name. */
const anotherHost = "another-host.invalid";

let shared: Promise<Authority> | undefined;

/** The authority of this process. */
export function openAuthority(): Promise<Authority> {
  shared ??= createAuthority();
  return shared;
}

/**
 * The library's dependency container asks for the reflect-metadata polyfill when it loads, and then
 * finds nothing in it: x509 registers classes without constructor parameters. An empty answer is
 * all it needs. It is loaded by those alone who run an image or the kit.
 */
async function loadX509() {
  const noMetadata = () => undefined;
  if (!("getMetadata" in Reflect))
    Object.assign(Reflect, { getMetadata: noMetadata, getOwnMetadata: noMetadata });
  const {
    AuthorityKeyIdentifierExtension,
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
    SubjectKeyIdentifierExtension,
    X509CertificateGenerator,
  } = await import("@peculiar/x509");
  return {
    AuthorityKeyIdentifierExtension,
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
    SubjectKeyIdentifierExtension,
    X509CertificateGenerator,
  };
}

async function createAuthority(): Promise<Authority> {
  const x509 = await loadX509();
  const [trusted, untrusted, serverKeys] = await Promise.all([
    createIssuer(x509),
    createIssuer(x509),
    generateKeys(),
  ]);
  const key = await toPrivatePem(serverKeys.privateKey);
  const contexts = new Map<string, Promise<SecureContext>>();

  const make = async (host: string, flaw: CertificateFlaw) => {
    const name = flaw === "wrong-host" ? anotherHost : host;
    const notAfter = new Date(Date.now() + (flaw === "expired" ? -dayMs : 365 * dayMs));
    const issuer = flaw === "untrusted" ? untrusted : trusted;
    const cert = await issue(x509, issuer, serverKeys, name, notAfter);
    return createSecureContext({ key, cert: `${toPem(cert)}${toPem(issuer.certificate)}` });
  };
  return {
    caPem: toPem(trusted.certificate),
    contextFor(host, flaw = "none") {
      const id = `${flaw} ${host}`;
      const context = contexts.get(id) ?? make(host, flaw);
      contexts.set(id, context);
      return context;
    },
  };
}

type X509 = Awaited<ReturnType<typeof loadX509>>;

async function createIssuer({
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
}: X509): Promise<Issuer> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=svc authority ${serialNumber().slice(0, 8)}`,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 3650 * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate, keys };
}

/**
 * Key identifiers are there because strict clients (Python 3.13 and later) ask for them: RFC 5280
 * section 4.2.1.1.
 */
async function issue(
  {
    AuthorityKeyIdentifierExtension,
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
    SubjectKeyIdentifierExtension,
    X509CertificateGenerator,
  }: X509,
  issuer: Issuer,
  server: webcrypto.CryptoKeyPair,
  host: string,
  notAfter: Date,
): Promise<X509Certificate> {
  return await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: "CN=svc proxy",
    issuer: issuer.certificate.subject,
    notBefore: new Date(Math.min(Date.now(), notAfter.getTime()) - dayMs),
    notAfter,
    signingAlgorithm: algorithm,
    publicKey: server.publicKey,
    signingKey: issuer.keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? "dns" : "ip", value: host }]),
      await SubjectKeyIdentifierExtension.create(server.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
    ],
  });
}

const generateKeys = () => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

const toPem = (certificate: X509Certificate) => `${certificate.toString("pem")}\n`;

async function toPrivatePem(key: CryptoKey): Promise<string> {
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key));
  const body = pkcs8.toString("base64").replace(/(.{64})/g, "$1\n");
  return `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
}

/** 16 random octets, positive (RFC 5280 section 4.1.2.2). */
function serialNumber(): string {
  const octets = Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return octets.toString("hex");
}
