/**
 * The page that the link in an invitation's mail opens. Addresses are relative, as on the page of
 * the documents.
 */

export const acceptPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Accept an invitation</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="accept/page.css">
  </head>
  <body>
    <main>
      <h1>You are invited</h1>
      <div id="ask">
        <label for="name">Your name</label>
        <input id="name" maxlength="200" autocomplete="name">
        <button id="accept" type="button">Accept the invitation</button>
      </div>
      <p id="said" role="status"></p>
      <output id="token"></output>
      <noscript>This page needs JavaScript.</noscript>
    </main>
    <script src="accept/page.js"></script>
  </body>
</html>
`;

export const acceptScript = `const byId = (id) => document.getElementById(id);
const say = (text) => { byId("said").textContent = text; };
const token = location.hash.slice(1);
// The address bar and the history forget it.
history.replaceState(null, "", location.pathname);
if (!/^svc_inv_\\w{46}$/.test(token)) {
  byId("ask").hidden = true;
  say("The link is not complete. Open it from the mail again.");
}
byId("accept").addEventListener("click", async () => {
  byId("accept").disabled = true;
  const name = byId("name").value.trim();
  try {
    const response = await fetch("../control/v1/invitations/accept", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(name === "" ? { token } : { token, name }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message);
    byId("ask").hidden = true;
    const { email, role, session } = answer.data;
    say(email + " is a member now, as " + role + ". This is your access token. It is shown once: keep it in a safe place. It ends on " + session.expires_at.slice(0, 10) + ".");
    byId("token").textContent = session.token;
  } catch (error) {
    byId("accept").disabled = false;
    say(error instanceof TypeError ? "The server cannot be reached. Try again." : error.message);
  }
});
`;

export const acceptStyle = `body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #f4f6f8; }
main { max-width: 32rem; margin: 12vh auto; padding: 2rem; background: #fff; border-radius: 8px; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; }
label { display: block; font-weight: 600; }
input, button { font: inherit; padding: 0.5rem 0.75rem; border-radius: 6px; border: 1px solid #64748b; box-sizing: border-box; }
input { width: 100%; margin: 0.25rem 0 1rem; }
button { border-color: #1d4ed8; background: #1d4ed8; color: #fff; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
#token { display: block; font-family: ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
`;
