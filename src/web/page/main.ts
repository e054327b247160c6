/** The page's script: what it adds to the document that is there already. */
import { startList } from "./list-view.ts";
import { startSession } from "./session-view.ts";
import { startSignIn } from "./sign-in.ts";

switch (document.body.dataset["view"]) {
  case "sign-in":
    startSignIn();
    break;
  case "list":
    startList();
    break;
  case "session":
    startSession();
    break;
}
