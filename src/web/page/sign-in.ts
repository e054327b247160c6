/** A one-time code for a cookie. A code in the address' fragment is taken out of it before anything else happens. */
import { ask, byId, wordsOf } from "./api.ts";

export function startSignIn(): void {
  const form = byId<HTMLFormElement>("sign-in");
  const input = byId<HTMLInputElement>("code");
  const said = byId("said");
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname);
    input.value = code;
    void redeem();
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void redeem();
  });

  async function redeem(): Promise<void> {
    const button = form.querySelector("button");
    if (button !== null) button.disabled = true;
    said.textContent = "";
    try {
      await ask("/api/exchange", { code: input.value.trim(), label: deviceName() });
      location.reload();
    } catch (error) {
      said.textContent = wordsOf(error);
      input.focus();
      input.select();
    } finally {
      if (button !== null) button.disabled = false;
    }
  }
}

/** How the key is called in `hansard keys list`. */
function deviceName(): string {
  const agent = navigator.userAgent;
  const device = /iPhone|iPad|Android|Macintosh|Windows|Linux/.exec(agent)?.[0] ?? "device";
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? "browser";
  return `${browser === "Edg" ? "Edge" : browser === "OPR" ? "Opera" : browser} on ${device}`;
}
