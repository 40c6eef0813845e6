/**
 * Finds the kind of an address, and whether a connection may go there. IPv4 is a deny-list of the
 * special blocks; IPv6 is an allow-list (global unicast without its special blocks), so that a new
 * special block is refused before we know it.
 */
import { BlockList, isIP } from "node:net";
import { ConnectorError } from "../contract/errors.ts";

/**
 * Special blocks, the first that fits names the class.
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), IPv6 unicast assignments;
 * metadata addresses from the clouds' manuals
 */
const blocks = {
  4: [
    // The link-local block holds the metadata services of nearly all clouds; these lie outside it:
    // Azure, Alibaba, Oracle.
    ["metadata", "169.254.169.254/32 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32"],
    ["unspecified", "0.0.0.0/8"],
    ["loopback", "127.0.0.0/8"],
    ["private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"],
    ["shared", "100.64.0.0/10"],
    ["link-local", "169.254.0.0/16"],
    ["documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24"],
    ["benchmarking", "198.18.0.0/15"],
    [
      "special-purpose",
      "192.0.0.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24",
    ],
    ["multicast", "224.0.0.0/4"],
    ["reserved", "240.0.0.0/4"],
  ],
  6: [
    [
      "metadata",
      "fd00:ec2::254/128 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128 fe80::a9fe:a9fe/128",
    ],
    ["unspecified", "::/128"],
    ["loopback", "::1/128"],
    // Forms that carry an IPv4 address inside. None is needed: whoever means the IPv4 address can
    // be reached there.
    ["ipv4-mapped", "::ffff:0:0/96"],
    ["ipv4-translated", "::ffff:0:0:0/96"],
    ["ipv4-compatible", "::/96"],
    ["nat64", "64:ff9b::/96 64:ff9b:1::/48"],
    ["teredo", "2001::/32"],
    ["6to4", "2002::/16"],
    ["unique-local", "fc00::/7"],
    ["link-local", "fe80::/10"],
    ["site-local", "fec0::/10"],
    ["multicast", "ff00::/8"],
    ["documentation", "2001:db8::/32 3fff::/20"],
    ["benchmarking", "2001:2::/48"],
    ["special-purpose", "2001::/23 2620:4f:8000::/48 3ffe::/16"],
  ],
} as const;

type BlockClass = (typeof blocks)[4 | 6][number][0];
/** The class of an address; only "public" is reachable without an operator's word. */
export type AddressClass = BlockClass | "public" | "isatap" | "reserved" | "scoped" | "invalid";

/**
 * Classes that an operator can open, because real servers live there. No setting opens any other,
 * least of all metadata.
 */
const openableClasses: readonly AddressClass[] = [
  "private",
  "shared",
  "loopback",
  "unique-local",
  "benchmarking",
];

/** Whether a connection may go there, or an operator could say so. */
export function isOpenable(address: string): boolean {
  const found = classifyAddress(address);
  return found === "public" || openableClasses.includes(found);
}

/**
 * `parts` holds one list for each block, to tell a network that lies inside one block from one that
 * spans several.
 */
interface SpecialClass {
  readonly name: BlockClass;
  readonly parts: readonly Network[];
}
interface Network {
  readonly family: 4 | 6;
  readonly address: string;
  readonly prefix: number;
  readonly list: BlockList;
}

const special = { 4: compile(4), 6: compile(6) };
const globalUnicast = toNetwork("2000::/3");

/**
 * Classifies an IP address as text, in any spelling that `net.isIP` accepts. Anything else is
 * "invalid".
 */
export function classifyAddress(address: string): AddressClass {
  const family = isIP(address);
  if (family !== 4 && family !== 6) return "invalid";
  // A zone index (fe80::1%eth0) names an interface of this machine.
  if (address.includes("%")) return "scoped";
  const found = special[family].find(({ parts }) => parts.some((part) => contains(part, address)));
  if (found) return found.name;
  if (family === 4) return "public";
  if (!contains(globalUnicast, address)) return "reserved";
  return isIsatap(address) ? "isatap" : "public";
}

/**
 * Whether connections may go to this address: it is public, or it lies in a network of the
 * operator's. A network opens only the block that it lies inside: "0.0.0.0/0" opens neither
 * 10.0.0.1 nor 127.0.0.1.
 * @throws CONFIG_INVALID as {@link checkAllowNetworks}
 */
export function isAllowedAddress(address: string, allowNetworks: readonly string[]): boolean {
  const addressClass = classifyAddress(address);
  if (addressClass === "public") return true;
  if (!openableClasses.includes(addressClass)) return false;
  return openedNetworks(allowNetworks).some((network) => contains(network, address));
}

/**
 * Checks the operator's list at start-up.
 * @throws CONFIG_INVALID with the path `allow_networks` when an entry is not CIDR notation, or does
 * not lie inside one block of the classes private, shared, loopback, unique-local and benchmarking
 */
export function checkAllowNetworks(allowNetworks: readonly string[]): void {
  openedNetworks(allowNetworks);
}

function openedNetworks(allowNetworks: readonly string[]): readonly Network[] {
  return allowNetworks.map((entry, index) => {
    const problem = (text: string) =>
      new ConnectorError("CONFIG_INVALID", {
        path: "allow_networks",
        problem: `entry ${index + 1} ${text}`,
      });
    if (!isCidr(entry)) throw problem('is not a network such as "10.1.0.0/16"');
    const network = toNetwork(entry);
    const openable = special[network.family].filter(({ name }) => openableClasses.includes(name));
    const isInside = openable.some(({ parts }) =>
      parts.some((part) => network.prefix >= part.prefix && contains(part, network.address)),
    );
    if (!isInside)
      throw problem(
        "does not lie inside one private, shared, loopback, unique-local or benchmarking block",
      );
    return network;
  });
}

/**
 * ISATAP carries an IPv4 address behind the interface identifier 0000:5efe or 0200:5efe (RFC 5214
 * section 6.1).
 */
function isIsatap(address: string): boolean {
  const groups = toGroups(address);
  return groups[5] === 0x5efe && ((groups[4] ?? 0) & ~0x0200) === 0;
}

/** The eight 16-bit groups of a valid IPv6 address. */
function toGroups(address: string): readonly number[] {
  const url = new URL(`http://[${address}]/`); // The URL parser writes an IPv4 tail as two groups.
  const [head = "", tail] = url.hostname.slice(1, -1).split("::");
  const read = (text: string | undefined) =>
    text ? text.split(":").map((group) => Number.parseInt(group, 16)) : [];
  const front = read(head);
  const back = read(tail);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function compile(family: 4 | 6): readonly SpecialClass[] {
  return blocks[family].map(([name, networks]) => ({
    name,
    parts: networks.split(" ").map(toNetwork),
  }));
}

function isCidr(text: unknown): text is string {
  if (typeof text !== "string") return false;
  const [, address = "", prefix = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
}

function toNetwork(cidr: string): Network {
  const [address = "", prefix = ""] = cidr.split("/");
  const family = isIP(address) === 4 ? 4 : 6;
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), `ipv${family}`);
  return { family, address, prefix: Number(prefix), list };
}

function contains({ list }: Network, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
