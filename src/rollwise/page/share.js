// A result or a question to send to others, as text and as a picture.

import { button, el } from "./dom.js";
import { SAY } from "./strings.js";

const SQUARES = { best: "🟩", fair: "🟨", doubtful: "🟧", bad: "🟥", "very-bad": "🟥" };
const COLOURS = { best: "#2c7a4b", fair: "#b9a11c", doubtful: "#d98a1c", bad: "#d9601c", "very-bad": "#b3261e" };
const [PICTURE_WIDE, PICTURE_HIGH] = [1200, 630];
const MOST_SQUARES = 60;

// A window with the text, to be copied, and with a picture, if there is one.
export function share(text, canvas, name) {
  const area = el("textarea", { readonly: true, rows: 7, "aria-label": SAY.share }, text);
  const said = el("p", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // of a page without this right
      area.select();
      document.execCommand("copy");
    }
    said.textContent = SAY.copied;
  };
  const save = () => canvas.toBlob((blob) => download(blob, `${name}.png`));
  const dialog = el("dialog", { class: "share", "aria-label": SAY.share, onclose: () => dialog.remove() },
    canvas, area,
    el("div", { class: "tools" }, button(SAY.copy, copy, { class: "main" }), canvas && button(SAY.savePicture, save),
      button(SAY.close, () => dialog.close())), said);
  document.body.append(dialog);
  dialog.showModal();
}

export function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// The address of this page, without a position; a file has a name only.
export const here = () => (location.protocol === "file:" ? location.pathname.split("/").at(-1) : location.href.replace(location.hash, ""));

// A result as text: a square for each decision, none of which is named.
export function resultText({ title, result, grades, lost, luck }) {
  const squares = grades.slice(0, MOST_SQUARES).map((grade) => SQUARES[grade]).join("");
  return [`${title}: ${result}`, squares, SAY.sharedResult(grades.length, lost, luck), here()].filter(Boolean).join("\n");
}

// The same as a picture, with the chart of the expected result: `levels` from 0 to 1.
export function resultPicture({ title, result, grades, lost, luck, levels }) {
  const canvas = el("canvas", { width: PICTURE_WIDE, height: PICTURE_HIGH, role: "img", "aria-label": `${title}: ${result}` });
  const pen = canvas.getContext("2d");
  const write = (text, y, size, font = "system-ui, sans-serif") => {
    pen.font = `600 ${size}px ${font}`;
    pen.fillText(text, 60, y, PICTURE_WIDE - 120);
  };
  pen.fillStyle = "#1d5c4e";
  pen.fillRect(0, 0, PICTURE_WIDE, PICTURE_HIGH);
  pen.fillStyle = "#f6f2e7";
  write(title, 95, 52, "Georgia, serif");
  write(result, 165, 44, "Georgia, serif");
  write(SAY.sharedResult(grades.length, lost, luck), PICTURE_HIGH - 50, 30);
  grades.slice(0, MOST_SQUARES).forEach((grade, k) => {
    pen.fillStyle = COLOURS[grade];
    pen.fillRect(60 + 36 * (k % 30), 195 + 36 * Math.floor(k / 30), 30, 30);
  });
  pen.fillStyle = "#0003";
  pen.fillRect(60, 290, PICTURE_WIDE - 120, 240);
  pen.strokeStyle = "#f4c95d";
  pen.lineWidth = 5;
  pen.lineJoin = "round";
  pen.beginPath();
  levels.forEach((level, k) => pen.lineTo(60 + ((PICTURE_WIDE - 120) * k) / Math.max(1, levels.length - 1), 520 - 220 * level));
  pen.stroke();
  return canvas;
}
