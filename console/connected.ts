/**
 * Where a provider sends the browser back to. It hands what came along to the page of the console
 * that waits for it, and keeps nothing: neither the address bar nor the history.
 */
import { type ConnectedMessage, connectedChannel } from "./model/connected-channel.ts";

const came = new URLSearchParams(location.search);
history.replaceState(null, "", location.pathname);

const say = (text: string) => {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
};

/** So long the console may take to answer. */
const patienceMs = 4_000;

const channel = new BroadcastChannel(connectedChannel);
const nobody = setTimeout(
  () =>
    say(
      "No page of the console waits for this any more. Close this window, and begin again in the console.",
    ),
  patienceMs,
);
channel.addEventListener("message", ({ data }: MessageEvent<ConnectedMessage>) => {
  if (data.kind !== "taken" || data.state !== came.get("state")) return;
  clearTimeout(nobody);
  say("It goes on in the console. You can close this window.");
  window.close();
});
const message: ConnectedMessage = { kind: "came-back", parameters: Object.fromEntries(came) };
channel.postMessage(message);
