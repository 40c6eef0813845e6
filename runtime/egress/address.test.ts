import { describe, expect, test } from "vitest";
import {
  type AddressClass,
  checkAllowNetworks,
  classifyAddress,
  isAllowedAddress,
} from "./address.ts";

const table: readonly (readonly [AddressClass, string])[] = [
  ["metadata", "169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192"],
  [
    "metadata",
    "fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 fe80::a9fe:a9fe FD00:0EC2:0::0254",
  ],
  ["unspecified", "0.0.0.0 0.0.0.1 0.255.255.255 :: 0:0:0:0:0:0:0:0"],
  [
    "loopback",
    "127.0.0.0 127.0.0.1 127.127.127.127 127.255.255.255 ::1 0:0:0:0:0:0:0:1 ::0001 ::0.0.0.1",
  ],
  [
    "private",
    "10.0.0.0 10.96.0.1 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1 192.168.255.255",
  ],
  ["shared", "100.64.0.0 100.64.0.1 100.127.255.255"],
  ["link-local", "169.254.0.0 169.254.170.2 169.254.255.255 fe80:: fe80::1 febf:ffff::1"],
  [
    "documentation",
    "192.0.2.1 198.51.100.255 203.0.113.9 2001:db8:: 2001:db8::1 2001:db8:ffff::1 3fff::1 3fff:fff::1",
  ],
  ["documentation", "2001:db8::5efe:10.0.0.1"],
  ["benchmarking", "198.18.0.1 198.19.255.255 2001:2::1"],
  [
    "special-purpose",
    "192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.171 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1",
  ],
  [
    "special-purpose",
    "2001:1::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2620:4f:8000::1 3ffe::1",
  ],
  ["multicast", "224.0.0.1 239.255.255.250 ff00:: ff02::1 ff0e::1"],
  ["reserved", "240.0.0.1 255.255.255.254 255.255.255.255"],
  [
    "ipv4-mapped",
    "::ffff:127.0.0.1 ::FFFF:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:8.8.8.8 0:0:0:0:0:ffff:c0a8:1 ::ffff:100.100.100.200",
  ],
  ["ipv4-translated", "::ffff:0:127.0.0.1 ::ffff:0:a9fe:a9fe ::ffff:0:8.8.8.8"],
  ["ipv4-compatible", "::127.0.0.1 ::7f00:1 ::8.8.8.8 ::a00:1 ::2"],
  [
    "nat64",
    "64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b:1::a00:1",
  ],
  ["teredo", "2001::1 2001:0:4136:e378::1"],
  ["6to4", "2002:a00:1:: 2002:7f00:1::1 2002:c0a8:101:: 2002:808:808::1"],
  ["unique-local", "fc00:: fc00::1 fd00::1 fdff:ffff::1"],
  ["site-local", "fec0:: fec0::1 feff::1"],
  [
    "reserved",
    "100::1 100:0:0:1::1 5f00::1 4000::1 64:ff9b:2::1 200::1 400::1 1000::1 6000::1 e000::1 1::1 0:1::1 1fff:ffff::1",
  ],
  ["isatap", "2607:f8b0:4000::5efe:10.0.0.1 2607:f8b0::200:5efe:a00:1 2a00:1450::5efe:7f00:1"],
  ["scoped", "fe80::1%eth0 ::1%lo 2a00:1450::1%1"],
  [
    "invalid",
    "localhost 127.1 0x7f.0.0.1 2130706433 010.0.0.1 1.2.3 [::1] 1.2.3.4.5 ::g 1.2.3.4/8 256.1.1.1 :",
  ],
  [
    "public",
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255",
  ],
  [
    "public",
    "169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0",
  ],
  ["public", "223.255.255.255 168.63.129.15 168.63.129.17"],
  [
    "public",
    "2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001:82b::200e 2001:200::1 2003::1 2620:4f:7fff::1 2000::1 3ffd::1",
  ],
];

const cases = table.flatMap(([addressClass, addresses]) =>
  addresses.split(" ").map((address) => [address, addressClass] as const),
);

test.each(cases)("%s is %s", (address, addressClass) => {
  expect(classifyAddress(address)).toBe(addressClass);
});

test("more than 100 special addresses are refused and no public one is", () => {
  const isAllowed = (address: string) => isAllowedAddress(address, []);
  const specials = cases.filter(([, addressClass]) => addressClass !== "public");
  expect(specials.length).toBeGreaterThan(100);
  expect(specials.filter(([address]) => isAllowed(address))).toEqual([]);
  expect(
    cases
      .filter(([, addressClass]) => addressClass === "public")
      .every(([address]) => isAllowed(address)),
  ).toBe(true);
});

test("the empty text is invalid", () => {
  expect(classifyAddress("")).toBe("invalid");
});

describe("the operator's networks", () => {
  test("open the addresses that they contain and no others", () => {
    expect(isAllowedAddress("10.1.2.3", ["10.1.0.0/16"])).toBe(true);
    expect(isAllowedAddress("10.2.0.1", ["10.1.0.0/16"])).toBe(false);
    expect(isAllowedAddress("127.0.0.1", ["10.1.0.0/16", "127.0.0.1/32"])).toBe(true);
    expect(isAllowedAddress("::1", ["::1/128"])).toBe(true);
    expect(isAllowedAddress("fd12::9", ["FD12::/16"])).toBe(true);
    expect(isAllowedAddress("fd13::9", ["fd12::/16"])).toBe(false);
    expect(isAllowedAddress("100.64.1.1", ["100.64.0.0/10"])).toBe(true);
  });

  test("open no other spelling of an address inside them", () => {
    expect(isAllowedAddress("::ffff:10.1.2.3", ["10.0.0.0/8"])).toBe(false);
    expect(isAllowedAddress("64:ff9b::10.1.2.3", ["10.0.0.0/8"])).toBe(false);
    expect(isAllowedAddress("::10.1.2.3", ["10.0.0.0/8"])).toBe(false);
    expect(isAllowedAddress("::1%lo", ["::1/128"])).toBe(false);
  });

  test("never open a metadata service, even one inside an opened network", () => {
    expect(isAllowedAddress("100.100.100.200", ["100.64.0.0/10"])).toBe(false);
    expect(isAllowedAddress("fd00:ec2::254", ["fd00::/8"])).toBe(false);
    expect(isAllowedAddress("fd00:ec2::253", ["fd00::/8"])).toBe(true);
  });

  test.each([
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/7",
    "8.0.0.0/8",
    "169.254.0.0/16",
    "169.254.169.254/32",
    "168.63.129.16/32",
    "224.0.0.0/4",
    "fe80::/10",
    "::ffff:0:0/96",
    "64:ff9b::/96",
    "0.0.0.0/8",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.1/16",
    "fd00::/129",
    "localhost/8",
    "",
  ])("are refused when one is %s", (network) => {
    const error = expect.objectContaining({
      code: "CONFIG_INVALID",
      details: expect.objectContaining({ path: "allow_networks" }),
    });
    expect(() => checkAllowNetworks(["10.0.0.0/8", network])).toThrow(error);
    expect(() => isAllowedAddress("10.0.0.1", [network])).toThrow(error);
  });
});
