/** What a wound says to a person. Pure. */
import type { Wound } from "./entry.ts";

const NO_RESPONSE = "⚠ driver produced no response";

/** The notice of a failure as one text: first what happened, then why or what helps, as far as it is known. */
export function woundBanner(wound: Wound): string {
  switch (wound.kind) {
    case "mute":
      return `${NO_RESPONSE} — nothing on disk says why`;
    case "spoke":
      return wound.source === undefined
        ? `⚠ the last step failed — ${wound.words}`
        : `${NO_RESPONSE} — ${wound.source} ends with: ${wound.words}`;
    case "output-limit":
      return "⚠ output limit ended the turn — nothing was committed and no tool ran; asking again does not help: raise max_output_tokens, or ask for less";
    case "refused": {
      const whose =
        wound.authRow === undefined
          ? "credentials — log in"
          : `${wound.authRow}'s credentials — log in to it`;
      return `⚠ the last step failed on ${whose}${wound.words === undefined ? "" : ` (${wound.words})`}`;
    }
    case "interrupted":
      return `⚠ the turn was interrupted${wound.words === undefined ? "" : ` — ${wound.words}`}`;
  }
}
