import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedAuthority } from "../../simulators/certificates.ts";
import { mailText, startSmtpServer } from "../../simulators/smtp-server.ts";
import { createLog, silentLog } from "../services/log.ts";
import { createMailer } from "./mailer.ts";

const mail = { to: "new@example.com", subject: "Hello", text: "Come in.\n" };
const from = "svc <svc@example.com>";

describe("a mailer", () => {
  test("hands a mail to the server that is set", async () => {
    await using server = await startSmtpServer({
      account: { user: "svc", password: "mail-password-1" },
    });
    const smtp = { host: "127.0.0.1", port: server.port, user: "svc", password: "mail-password-1" };
    expect(await createMailer({ smtp, from }, silentLog).send(mail)).toBe(true);
    expect(server.mails).toMatchObject([{ from: "svc@example.com", to: ["new@example.com"] }]);
    expect(server.mails[0]?.raw).toContain("Subject: Hello");
    expect(server.mails[0]?.text).toContain("Come in.");
  });

  test("says when the server does not take it, and logs neither address nor password", async () => {
    await using server = await startSmtpServer({
      account: { user: "svc", password: "mail-password-1" },
    });
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    const smtp = {
      host: "127.0.0.1",
      port: server.port,
      user: "svc",
      password: "wrong-password-2",
    };
    expect(await createMailer({ smtp, from }, log).send(mail)).toBe(false);
    server.refuseRecipients(true);
    const other = { ...smtp, password: "mail-password-1" };
    expect(await createMailer({ smtp: other, from }, log).send(mail)).toBe(false);
    expect(await createMailer({ smtp: { host: "127.0.0.1", port: 1 }, from }, log).send(mail)).toBe(
      false,
    );
    expect(server.mails).toEqual([]);
    expect(lines.map((line) => JSON.parse(line).error_code)).toEqual([
      "EAUTH",
      "EENVELOPE",
      expect.any(String),
    ]);
    expect(lines.join("")).not.toMatch(/password-\d|new@example|svc@example/);
  });

  // ::ffff:127.0.0.1 reaches this machine, and is for the mailer an address like any other.
  test("sends nothing to another machine that offers no TLS, or that it does not trust", async () => {
    const account = { user: "svc", password: "mail-password-1" };
    await using plain = await startSmtpServer({ account });
    const authority = await sharedAuthority();
    await using strange = await startSmtpServer({
      account,
      tls: await authority.issue(["mail.example.com"]),
    });
    for (const server of [plain, strange]) {
      const smtp = { host: "::ffff:127.0.0.1", port: server.port, ...account };
      expect(await createMailer({ smtp, from }, silentLog).send(mail)).toBe(false);
      expect(server.heard.some((line) => line.startsWith("EHLO"))).toBe(true);
      expect(server.heard.some((line) => /^(AUTH|MAIL|RCPT)/.test(line))).toBe(false);
    }
  });

  test("puts mails into the outbox, for the eyes of its owner", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-outbox-"));
    try {
      const outbox = join(folder, "mails");
      const subject = "Grüße aus München\r\nBcc: third@example.com";
      const link = `https://svc.example.com/${"long/".repeat(20)}`;
      expect(
        await createMailer({ outbox }, silentLog).send({
          ...mail,
          subject,
          text: `Come in.\n${link}\n`,
        }),
      ).toBe(true);
      const [name = ""] = await readdir(outbox);
      expect(name).toMatch(/\.eml$/);
      const raw = await readFile(join(outbox, name), "utf8");
      expect(mailText(raw)).toBe(`Come in.\r\n${link}\r\n`);
      expect(raw).not.toMatch(/^Bcc:/m);
      const words = [...raw.matchAll(/=\?utf-8\?B\?(.*?)\?=/g)].map(([, word = ""]) =>
        Buffer.from(word, "base64"),
      );
      expect(Buffer.concat(words).toString()).toBe(subject);
      expect((await stat(join(outbox, name))).mode & 0o777).toBe(0o600);
      expect((await stat(outbox)).mode & 0o777).toBe(0o700);
      expect(await createMailer({ outbox: join(outbox, name) }, silentLog).send(mail)).toBe(false);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("without settings sends nothing, and says so", async () => {
    expect(await createMailer(undefined, silentLog).send(mail)).toBe(false);
  });

  test("never sends to more than the one address", async () => {
    await using server = await startSmtpServer();
    const smtp = { host: "127.0.0.1", port: server.port };
    const odd = {
      ...mail,
      to: "new@example.com, other@example.com",
      subject: "Hello\r\nBcc: third@example.com",
    };
    await createMailer({ smtp, from }, silentLog).send(odd);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain("other@example.com");
    expect(server.mails.flatMap(({ to }) => to)).not.toContain("third@example.com");
    expect(server.mails.every(({ raw }) => !/^Bcc:/im.test(raw))).toBe(true);
  });
});
