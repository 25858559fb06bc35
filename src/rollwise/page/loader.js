// Unpacks the script of the page and puts it in its place; what it knows of the game is unpacked
// meanwhile. The policy of the page names the hash of this script and of that one.

import { inflated } from "./inflate.js";

const kept = (id) => inflated(document.getElementById(id).textContent);

async function load() {
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("old").hidden = false;
    return;
  }
  const code = kept("code");
  globalThis.known = kept("game");
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = new TextDecoder().decode(await code);
  document.body.append(script);
}

load();
