// Taking the picture along: as a file in any format, or as a link.

import { h } from "./dom.js";
import { pictureAddress } from "./toolbar.js";

const FORMATS = [["svg", "SVG"], ["png", "PNG"], ["html", "HTML page"], ["csv", "CSV"], ["json", "JSON"], ["mermaid", "Mermaid"], ["dot", "Graphviz"]];

export function exportMenu() {
  const menu = h("details.menu.export", {}, h("summary", {}, "Export"));
  menu.append(h("div.items", {},
    FORMATS.map(([format, name]) => h("button", { "data-format": format, onclick: () => { save(format); menu.removeAttribute("open"); } }, name)),
    h("button", { onclick: () => { navigator.clipboard?.writeText(window.location.href); menu.removeAttribute("open"); } }, "Copy link")));
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.menu[open]")) {
      if (event.target instanceof Node && !open.contains(event.target)) open.removeAttribute("open");
    }
  });
  return menu;
}

/** @param {string} format */
async function save(format) {
  if (format === "png") return savePng();
  const response = await fetch(pictureAddress(format));
  download(await response.blob(), `lineage.${format === "mermaid" ? "mmd" : format === "dot" ? "gv" : format}`);
}

async function savePng() {
  const text = await (await fetch(pictureAddress("svg"))).text();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => { if (blob) download(blob, "lineage.png"); });
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}
